#!/usr/bin/env bash
# it-byte-stream 3.0.0: a `read()` that is aborted takes the next chunk with it.
# Expected: a rejected read has read nothing, so the next one returns the chunk that comes next.
# Seen: the aborted read goes on in the source, and its chunk is dropped. A program that tries again after a time-out loses a message.
# Bytes that a `read({ bytes })` has already received before its abort are kept, but not the chunk it waits for.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund it-byte-stream@3.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { byteStream } from 'it-byte-stream';

setTimeout(() => process.exit(1), 20_000).unref();

/** What is read of three chunks, of which the second comes after an aborted read, or without one. */
async function readsOf(isAborted, options) {
  let arrive;
  const arrival = new Promise((resolve) => (arrive = resolve));
  async function* source() {
    yield new TextEncoder().encode('one');
    await arrival;
    yield new TextEncoder().encode('two');
    yield new TextEncoder().encode('six');
  }
  async function sink(chunks) {
    for await (const _ of chunks);
  }
  const stream = byteStream({ source: source(), sink });
  const texts = [];
  async function read(signal) {
    try {
      const bytes = await stream.read({ ...options, signal });
      texts.push(bytes === null ? 'the end' : new TextDecoder().decode(bytes.subarray()));
    } catch (error) {
      texts.push(error.name);
    }
  }
  await read();
  if (isAborted) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    await read(controller.signal);
  }
  arrive();
  await read();
  await read();
  return texts.join(', ');
}

const whole = await readsOf(false, {});
const ofChunks = await readsOf(true, {});
const ofBytes = await readsOf(true, { bytes: 3 });
console.log('three reads:', whole);
console.log('with an aborted read:', ofChunks);
console.log('with an aborted read of three bytes:', ofBytes);
const isSeen = whole === 'one, two, six' && ofChunks === 'one, AbortError, six, the end' && ofBytes === 'one, AbortError, six, UnexpectedEOFError';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
