#!/usr/bin/env bash
# @dfinity/cbor 0.2.3: `encode()` cuts a fraction off: 1.5 is read as 1, 0.25 as 0, and -0.25 as -1.
# Expected: the number, or an error. Its type accepts each number, and the README's list "Not implemented" does not name fractions.
# Seen: it writes the integer below, and nothing throws. Even cbor2 then reads that integer.
# A number beyond 64 bits is refused, and so is a float of another encoder.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @dfinity/cbor@0.2.3 cbor2@2.3.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decode, encode } from '@dfinity/cbor';
import { decode as otherDecode, encode as otherEncode } from 'cbor2';

const sent = [1.5, 0.25, -0.25, 1e-7, 99.99];
const read = sent.map((value) => [decode(encode(value)), otherDecode(encode(value))]);
for (const [i, [own, other]] of read.entries()) console.log(sent[i], 'is read as', own, 'and by cbor2 as', other);
const refused = [() => encode(2 ** 64), () => decode(otherEncode(1.5))].map((run) => {
  try {
    return `accepted: ${run()}`;
  } catch (error) {
    return error.message;
  }
});
console.log('2^64:', refused[0]);
console.log('1.5 from cbor2:', refused[1]);
const isSeen =
  read.every(([own, other], i) => own === Math.floor(sent[i]) && other === own) && refused.every((text) => !text.startsWith('accepted'));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
