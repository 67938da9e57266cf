#!/usr/bin/env bash
# for-emit-of 1.4.0: with `limit: 3` a loop gets all events that come one by one.
# Expected: the loop ends after three events. The README shows an endless emitter with `limit: 10`, and a loop that ends.
# Seen: the package counts only events that had to wait in its queue. It does not count one for which the loop was waiting.
# So the loop ends after three events of a burst, and never with an emitter that is slower than the loop.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund for-emit-of@1.4.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { EventEmitter } from 'node:events';
import forEmitOf from 'for-emit-of';

setTimeout(() => process.exit(1), 20_000).unref();

/** The values of a loop over eight events, which come at once or each after the loop has taken the one before. */
async function valuesOf(isBurst) {
  const emitter = new EventEmitter();
  const events = forEmitOf(emitter, { limit: 3 });
  const values = [];
  function emit(value) {
    if (value > 8) emitter.emit('end');
    else emitter.emit('data', value);
  }
  if (isBurst) for (let value = 1; value <= 8; value += 1) emit(value);
  else setTimeout(emit, 20, 1);
  for await (const value of events) {
    values.push(value);
    if (!isBurst) setTimeout(emit, 20, value + 1);
  }
  return values.join();
}

const burst = await valuesOf(true);
const oneByOne = await valuesOf(false);
console.log('eight events at once:', burst);
console.log('eight events one by one:', oneByOne);
const isSeen = burst === '1,2,3' && oneByOne === '1,2,3,4,5,6,7,8';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
