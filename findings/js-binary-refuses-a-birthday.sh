#!/usr/bin/env bash
# js-binary 1.2.0: a date before 1970 is refused.
# Expected: the date. The README says: "'date': a JS Date instance".
# Seen: `encode()` throws "Expected unsigned integer", since it writes the milliseconds since 1970 as a `uint`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund js-binary@1.2.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Type } from 'js-binary';

const Person = new Type({ birthday: 'date' });
const sent = [new Date(0), new Date('1969-07-20')];
const seen = sent.map((birthday) => {
  try {
    return Person.decode(Person.encode({ birthday })).birthday.toISOString();
  } catch ({ message }) {
    return message;
  }
});
for (const [i, text] of seen.entries()) console.log(sent[i].toISOString(), 'is read as', text);
const isSeen = seen[0] === sent[0].toISOString() && seen[1].startsWith('Expected unsigned integer');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
