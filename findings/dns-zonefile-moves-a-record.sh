#!/usr/bin/env bash
# dns-zonefile 0.3.2: a record without a name goes to the domain, or to another host.
# Expected: the README promises a parser that is "RFC1035 compliant". There, a line that begins with a blank belongs to the owner of the record before it.
# Seen: the record gets the name of the last one of its own type, or "@". The second address of `www` goes to `ns`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund dns-zonefile@0.3.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import loaded from 'dns-zonefile';

const { parse } = loaded.default ?? loaded;
const read = (records) => {
  const { soa, $origin, ...lists } = parse(['$ORIGIN example.org.', '@ IN SOA ns.example.org. admin.example.org. ( 1 7200 600 86400 3600 )', ...records, ''].join('\n'));
  return Object.entries(lists)
    .flatMap(([type, list]) => list.map(({ name }) => `${type} of ${name}`))
    .join(', ');
};
const named = ['ns IN A 192.0.2.1', 'ns IN AAAA 2001:db8::1', 'www IN A 192.0.2.2', 'www IN AAAA 2001:db8::2', 'www IN TXT "hello"', 'www IN MX 10 mail'];
const without = (...places) => read(named.map((record, i) => (places.includes(i) ? record.replace(/^\w+/, '   ') : record)));
const seen = [without(), without(3, 4, 5), without(1, 3, 4, 5)];
for (const [i, names] of seen.entries()) console.log(['each has a name', 'three have none', 'four have none'][i], '-', names);
const isSeen =
  seen[0] === 'a of ns, a of www, aaaa of ns, aaaa of www, txt of www, mx of www' &&
  seen[1] === 'a of ns, a of www, aaaa of ns, aaaa of ns, txt of @, mx of @' &&
  seen[2] === 'a of ns, a of www, aaaa of @, aaaa of @, txt of @, mx of @';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
