#!/usr/bin/env bash
# ndjson-readablestream 1.4.0: a number that continues in the next chunk is read as two numbers.
# Expected: 123 and 45. A line of NDJSON ends with its line break, in whatever chunks it arrives.
# Seen: the reader yields a chunk's last text as soon as it is valid JSON: 12, 3, 4 and 5. Objects pass, since no part of one is valid.
# it-ndjson reads the same chunks right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ndjson-readablestream@1.4.0 it-ndjson@2.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { parse } from 'it-ndjson';
import ndjson from 'ndjson-readablestream';

/** All values that a reader yields of these chunks. */
async function valuesOf(read, chunks) {
  const values = [];
  for await (const value of read(ReadableStream.from(chunks).pipeThrough(new TextEncoderStream()))) values.push(value);
  return JSON.stringify(values);
}

const chunks = ['{"a":', '1}\n12', '3\n4', '5\n'];
const [own, other] = [await valuesOf(ndjson, chunks), await valuesOf(parse, chunks)];
console.log('the chunks:', chunks);
console.log('ndjson-readablestream:', own);
console.log('it-ndjson:', other);
const isSeen = own === '[{"a":1},12,3,4,5]' && other === '[{"a":1},123,45]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
