#!/usr/bin/env bash
# it-batched-bytes 2.0.12: a loop that is busy while its async source ends gets no more batches, and loses what is buffered.
# Expected: all bytes of the source in batches, as from an array. "The final batch may be smaller than the max", the README says.
# Seen: the next read after the source's end ends the loop. The bytes that the package has read during the loop's body are lost.
# So a file that is written slowly lacks its end, and no error is reported.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund it-batched-bytes@2.0.12 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import batch from 'it-batched-bytes';

setTimeout(() => process.exit(1), 20_000).unref();
const chunks = [0, 1, 2, 3, 4].map((byte) => Uint8Array.of(byte));

/** The batches of an async source, read by a loop whose body is busy until the source has ended, or not busy at all. */
async function batchesOf(isBusy) {
  let release, end;
  const released = new Promise((resolve) => (release = resolve));
  const ended = new Promise((resolve) => (end = resolve));
  async function* source() {
    yield* chunks.slice(0, 2);
    await released;
    yield* chunks.slice(2);
    end();
  }
  const batches = [];
  for await (const bytes of batch(source(), { size: 2 })) {
    batches.push(bytes.join(' '));
    release();
    if (!isBusy) continue;
    await ended;
    await delay(100);
  }
  return batches.join(', ');
}

const ofArray = [...batch(chunks, { size: 2 })].map((bytes) => bytes.join(' ')).join(', ');
const idle = await batchesOf(false);
const busy = await batchesOf(true);
console.log('an array:', ofArray);
console.log('an async source, in a loop without a wait:', idle);
console.log('an async source, in a busy loop:', busy);
const isSeen = ofArray === '0 1, 2 3, 4' && idle.replaceAll(',', '') === '0 1 2 3 4' && busy === '0 1';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
