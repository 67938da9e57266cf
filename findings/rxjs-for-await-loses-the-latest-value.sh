#!/usr/bin/env bash
# rxjs-for-await 1.0.0, rxjs 7.8.2: `latestValueFrom()` loses the latest value that arrives while the loop works on the one before.
# Expected: the next turn of the loop "will immediately yield the most recently arrived value", as the README says.
# Seen: the value is gone. The loop waits for a newer value, or ends if the source completes.
# So a loop that is busy with 'connecting' never sees 'connected'. The loss begins once the loop has waited for a value.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rxjs-for-await@1.0.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { Subject } from 'rxjs';
import { latestValueFrom } from 'rxjs-for-await';

setTimeout(() => process.exit(1), 20_000).unref();

/** The values of a loop that is still busy with the first one when the others arrive. */
async function valuesOf(...later) {
  const status = new Subject();
  let release;
  const busy = new Promise((resolve) => (release = resolve));
  const values = [];
  const loop = (async () => {
    for await (const value of latestValueFrom(status)) {
      values.push(value);
      await busy;
    }
  })();
  await delay(20);
  status.next('connecting');
  await delay(20);
  for (const value of later) status.next(value);
  await delay(20);
  release();
  await delay(100);
  status.complete();
  await loop;
  return values;
}

const one = await valuesOf('connected');
const two = await valuesOf('connected', 'ready');
console.log("'connected' arrives:", one);
console.log("'connected' and 'ready' arrive:", two);
const isSeen = one.join() === 'connecting' && two.join() === 'connecting';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
