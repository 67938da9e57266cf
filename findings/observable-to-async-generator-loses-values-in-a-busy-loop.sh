#!/usr/bin/env bash
# observable-to-async-generator 1.0.3, rxjs 7.8.2: values that arrive while the loop works on another one are lost.
# Expected: the loop gets each value. The README says that the package converts an Observable, and names no loss.
# Seen: the generator waits for one promise, and each value replaces it by a new one. It forgets a promise that resolved while the loop was busy.
# With a loop that waits for 50 ms at each item, `of(1, 2, 3)` yields 1 alone. With a loop that does not wait it yields all.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund observable-to-async-generator@1.0.3 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import generator from 'observable-to-async-generator';
import { of, Subject } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();
const toGenerator = generator.default;

/** The values of a loop that works for a time on each one. */
async function valuesOf(observable, work) {
  const values = [];
  for await (const value of toGenerator(observable)) {
    values.push(value);
    await work();
  }
  return values.join();
}

const idle = await valuesOf(of(1, 2, 3), () => undefined);
const busy = await valuesOf(of(1, 2, 3), () => delay(50));
const messages = new Subject();
let release;
const answered = new Promise((resolve) => (release = resolve));
const loop = valuesOf(messages, () => answered);
messages.next('first');
await delay(50);
messages.next('second');
await delay(50);
release();
await delay(50);
messages.next('third');
await delay(50);
messages.complete();
const apart = await loop;
console.log('of(1, 2, 3) in an idle loop:', idle);
console.log('of(1, 2, 3) in a busy loop:', busy);
console.log('a second message arrives during the work on the first:', apart);
const isSeen = idle === '1,2,3' && busy === '1' && apart === 'first,third';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
