#!/usr/bin/env bash
# parse-link-header 2.0.0: a title with a semicolon is cut, and what follows it may take the place of the link's relation.
# Expected: a quoted parameter is one text, whatever it contains (RFC 8288). http-link-header reads it so.
# Seen: the parser splits at each semicolon. "Cats; Dogs" is read as "Cats", and the title "links; rel=help" hides the next page under the key `help`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund parse-link-header@2.0.0 http-link-header@1.1.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import LinkHeader from 'http-link-header';
import parse from 'parse-link-header';

const cats = '<https://example.org/?page=2>; rel="next"; title="Cats; Dogs"';
const manual = '<https://example.org/?page=2>; rel="next"; title="links; rel=help"';
const own = [parse(cats), parse(manual)];
const other = [cats, manual].map((header) => LinkHeader.parse(header).refs[0]);
console.log(cats, 'is read as', own[0]);
console.log(manual, 'is read as', own[1]);
console.log('http-link-header:', other);
const isSeen =
  own[0].next?.title === 'Cats' &&
  own[1].next === undefined &&
  other.map(({ rel, title }) => `${rel}: ${title}`).join() === 'next: Cats; Dogs,next: links; rel=help';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
