#!/usr/bin/env bash
# it-byte-stream 3.0.0: `read()` skips the bytes that an earlier `read({ bytes })` has left in its buffer.
# Expected: "read the next chunk", as its README calls `read()`, returns what follows the bytes that have been read.
# Seen: it returns the next chunk of the source. The bytes in front of it stay in the buffer, and come after it from a later `read({ bytes })`.
# So after a header of one byte, the rest of its chunk is missing, or arrives in the wrong order.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund it-byte-stream@3.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { byteStream } from 'it-byte-stream';

setTimeout(() => process.exit(1), 20_000).unref();

/** What a sequence of reads returns from two chunks, "5Hel" and "lo". */
async function readsOf(...lengths) {
  async function* source() {
    for (const chunk of ['5Hel', 'lo']) yield new TextEncoder().encode(chunk);
  }
  async function sink(chunks) {
    for await (const _ of chunks);
  }
  const stream = byteStream({ source: source(), sink });
  const texts = [];
  for (const bytes of lengths) {
    const read = await stream.read(bytes === undefined ? undefined : { bytes });
    texts.push(read === null ? 'the end' : new TextDecoder().decode(read.subarray()));
  }
  return texts.join(', ');
}

const byChunks = await readsOf(undefined, undefined, undefined);
const byLengths = await readsOf(1, 5);
const afterHeader = await readsOf(1, undefined, undefined);
const later = await readsOf(1, undefined, 3);
console.log('three chunks:', byChunks);
console.log('1 byte, 5 bytes:', byLengths);
console.log('1 byte, two chunks:', afterHeader);
console.log('1 byte, a chunk, 3 bytes:', later);
const isSeen = byChunks === '5Hel, lo, the end' && byLengths === '5, Hello' && afterHeader === '5, lo, the end' && later === '5, lo, Hel';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
