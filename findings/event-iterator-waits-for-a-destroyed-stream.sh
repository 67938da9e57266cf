#!/usr/bin/env bash
# event-iterator 2.0.0: a loop over `stream.call(readable)` does not end when the stream is destroyed.
# Expected: an end or an error, as in a loop over the readable itself, which throws ERR_STREAM_PREMATURE_CLOSE.
# Seen: the loop waits for ever, and its `finally` does not run. A stream that is destroyed with an error ends the loop.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund event-iterator@2.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { stream } from 'event-iterator';

setTimeout(() => process.exit(1), 20_000).unref();
/** How a loop over a stream ends that is destroyed after its first chunk. */
async function endOf(iterate, error) {
  const readable = new Readable({ read() {} });
  readable.on('error', () => {});
  readable.push('one');
  const loop = (async () => {
    try {
      for await (const chunk of iterate(readable)) setTimeout(() => readable.destroy(error), 50, chunk);
      return 'ends';
    } catch ({ code, message }) {
      return `throws ${code ?? message}`;
    }
  })();
  return Promise.race([loop, delay(3000, 'waits')]);
}
const own = (readable) => stream.call(readable);
const seen = [await endOf(own), await endOf((readable) => readable), await endOf(own, new Error('lost'))];
console.log('event-iterator:', seen[0]);
console.log('the readable itself:', seen[1]);
console.log('event-iterator, destroyed with an error:', seen[2]);
const isSeen = seen.join() === 'waits,throws ERR_STREAM_PREMATURE_CLOSE,throws lost';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
