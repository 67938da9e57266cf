#!/usr/bin/env bash
# mimemessage 1.0.5: a multipart message whose boundary has a plus sign, a parenthesis or a question mark is refused.
# Expected: the README says RFC 2046, which allows these characters in a boundary. A message with the boundary "part1" is read.
# Seen: the parser makes a regular expression of the boundary as it is. `parse()` returns false, as it does for a message that is invalid.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mimemessage@1.0.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import mimemessage from 'mimemessage';

const rows = ['part1', 'part_1', 'part:1', 'part+1', '(part)1', 'part?1'].map((boundary) => {
  const part = (text) => [`--${boundary}`, 'Content-Type: text/plain', '', text];
  const lines = [`Content-Type: multipart/mixed; boundary="${boundary}"`, '', ...part('one'), ...part('two'), `--${boundary}--`, ''];
  const message = mimemessage.parse(lines.join('\r\n'));
  const read = message ? message.body.map(({ body }) => body).join(' and ') : message;
  console.log(JSON.stringify(boundary), ':', read);
  return read;
});
const isSeen = JSON.stringify(rows) === '["one and two","one and two","one and two",false,false,false]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
