#!/usr/bin/env bash
# rxjs-async-map 0.2.0, rxjs 7.8.2: a subscriber of `asyncMap()` waits for the promises of a subscriber that has left.
# Expected: each subscription keeps the order of its own elements, as with `concatMap()`.
# Seen: the operator has one queue for all its subscriptions. The second subscriber's value is ready, but is emitted only once the first one's promise settles.
# So a page that is left and opened again waits for its old request, and for good if that request never settles.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rxjs-async-map@0.2.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { concatMap, of } from 'rxjs';
import { asyncMap } from 'rxjs-async-map';

setTimeout(() => process.exit(1), 20_000).unref();

/** What a second subscriber has got before and after the promise of the first one, who has left, resolves. */
async function valuesOf(operator) {
  const requests = [];
  const load = (id) => new Promise((resolve) => requests.push(() => resolve(id)));
  const rows = of('row 1').pipe(operator(load));
  rows.subscribe().unsubscribe();
  const values = [];
  rows.subscribe((value) => values.push(value));
  requests[1]();
  await delay(100);
  const before = [...values];
  requests[0]();
  await delay(100);
  return { before, after: values };
}

const ofRxjs = await valuesOf((load) => concatMap(load));
const ofAsyncMap = await valuesOf((load) => asyncMap(load, 2));
console.log('concatMap():', ofRxjs);
console.log('asyncMap():', ofAsyncMap);
const isSeen =
  JSON.stringify([ofRxjs, ofAsyncMap]) ===
  JSON.stringify([
    { before: ['row 1'], after: ['row 1'] },
    { before: [], after: ['row 1'] },
  ]);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
