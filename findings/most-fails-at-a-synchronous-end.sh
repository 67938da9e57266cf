#!/usr/bin/env bash
# most 1.9.0, rxjs 7.8.2: `merge()`, `chain()` and `concatMap()` fail at an Observable that completes during its subscription, such as `of(1)`.
# Expected: `from()` adopts any Observable, so a merged stream goes on with its other sources.
# Seen: the end of the one source comes before the library holds its subscription. The merged stream fails with a TypeError about 'dispose'.
# Its live source has just begun, and its values are lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund most@1.9.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
// most comes first, because it defines the symbol that rxjs then uses.
import { from, merge } from 'most';
import { asyncScheduler, merge as mergeOfRxjs, of, Subject } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();

/** The events of a live source beside one that has a single value. */
async function eventsOf(combine) {
  const live = new Subject();
  const events = [];
  combine(live).subscribe({
    next: (value) => events.push(value),
    error: ({ message }) => events.push(message),
    complete: () => events.push('complete'),
  });
  for (const value of ['first', 'second']) {
    await delay(20);
    live.next(value);
  }
  live.complete();
  await delay(100);
  return events.join(', ');
}

const failure = "Cannot read properties of undefined (reading 'dispose')";
const ofRxjs = await eventsOf((live) => mergeOfRxjs(live, of(1)));
const later = await eventsOf((live) => merge(from(live), from(of(1, asyncScheduler))));
const merged = await eventsOf((live) => merge(from(live), from(of(1))));
const chained = await eventsOf((live) => from(live).chain((value) => from(of(value))));
const mapped = await eventsOf((live) => from(live).concatMap((value) => from(of(value))));
console.log('rxjs, merge():', ofRxjs);
console.log('most, merge() with a later end:', later);
console.log('most, merge():', merged);
console.log('most, chain():', chained);
console.log('most, concatMap():', mapped);
const isSeen =
  [ofRxjs, later].every((events) => events === '1, first, second, complete') &&
  merged === `1, ${failure}` &&
  [chained, mapped].every((events) => events === `first, ${failure}`);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
