#!/usr/bin/env bash
# ix 7.0.0, rxjs 7.8.2: unsubscribing from `toObservable(generator)` leaves the generator open, so its `finally` never runs.
# Expected: `take(2)` ends the generator, as a `break` out of `for await` does, and as rxjs's own `from(generator)` does. The docstring says only that it converts.
# Seen: `unsubscribe()` sets a flag. The generator is asked for one value more and is then left suspended, with the connection that it holds.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ix@7.0.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { toObservable } from 'ix/asynciterable';
import { from, lastValueFrom, take } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();

/** What happens in a generator whose reader takes two values. */
async function eventsOf(read) {
  const events = [];
  async function* rows() {
    try {
      for (let n = 1; ; n++) {
        await delay(5);
        events.push(n);
        yield n;
      }
    } finally {
      events.push('closed');
    }
  }
  await read(rows());
  await delay(200);
  return events.join(', ');
}

const loop = await eventsOf(async (rows) => {
  for await (const n of rows) if (n === 2) break;
});
const ofRxjs = await eventsOf((rows) => lastValueFrom(from(rows).pipe(take(2))));
const ofIx = await eventsOf((rows) => lastValueFrom(from(toObservable(rows)).pipe(take(2))));
console.log('for await:', loop);
console.log('rxjs, from():', ofRxjs);
console.log('ix, toObservable():', ofIx);
const isSeen = loop === '1, 2, closed' && ofRxjs === '1, 2, closed' && ofIx === '1, 2, 3';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
