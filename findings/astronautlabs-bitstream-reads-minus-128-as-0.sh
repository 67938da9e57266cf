#!/usr/bin/env bash
# @astronautlabs/bitstream 4.2.2: the smallest signed integer is read as -0.
# Expected: -128 in 8 bits and -32768 in 16 bits. The README reads "a signed two's complement integer".
# Seen: `writeSigned()` writes the right bytes, and `readSignedSync()` returns -0 for them, at each width. All other values come back.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @astronautlabs/bitstream@4.2.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { BitstreamReader, BitstreamWriter } from '@astronautlabs/bitstream';

const read = ([width, value]) => {
  const chunks = [];
  const writer = new BitstreamWriter({ write: (bytes) => chunks.push(Buffer.from(bytes)) });
  writer.writeSigned(width, value);
  writer.end();
  const reader = new BitstreamReader();
  reader.addBuffer(Buffer.concat(chunks));
  return [Buffer.concat(chunks).toString('hex'), reader.readSignedSync(width)];
};
const sent = [[8, 127], [8, -1], [8, -127], [8, -128], [16, -32768], [32, -2147483648]];
const seen = sent.map(read);
for (const [i, [bytes, value]] of seen.entries()) console.log(`${sent[i][1]} in ${sent[i][0]} bits: written as ${bytes}, read as`, value);
const isSeen = seen.map(([bytes, value]) => `${bytes} ${Object.is(value, -0) ? '-0' : value}`).join() === '7f 127,ff -1,81 -127,80 -0,8000 -0,80000000 -0';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
