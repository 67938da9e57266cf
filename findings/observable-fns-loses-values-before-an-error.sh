#!/usr/bin/env bash
# observable-fns 0.6.1, rxjs 7.8.2: `map()`, `filter()`, `flatMap()` and `scan()` lose the values that stand before an error.
# Expected: they emit "in the same order as the input observable", as the README says, so an error comes after the values.
# Seen: a value waits for a later turn, even behind a synchronous function, and the error does not wait. A completion does.
# So a stream that reports two rows and then fails has reported none.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund observable-fns@0.6.1 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { filter, flatMap, map, Observable, scan } from 'observable-fns';
import { map as mapOfRxjs, Observable as ObservableOfRxjs } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();

/** The events of two rows and an end, behind an operator. */
async function eventsOf(Source, operator, end) {
  const events = [];
  const rows = new Source((observer) => {
    observer.next(1);
    observer.next(2);
    observer[end](new Error('lost'));
  });
  rows.pipe(operator).subscribe({
    next: (row) => events.push(row),
    error: () => events.push('error'),
    complete: () => events.push('complete'),
  });
  await delay(100);
  return events.join(', ');
}

const ofRxjs = await eventsOf(
  ObservableOfRxjs,
  mapOfRxjs((row) => row),
  'error',
);
const completed = await eventsOf(
  Observable,
  map((row) => row),
  'complete',
);
const operators = { map: map((row) => row), filter: filter(() => true), flatMap: flatMap((row) => [row]), scan: scan((_, row) => row, 0) };
const failed = {};
for (const [name, operator] of Object.entries(operators)) failed[name] = await eventsOf(Observable, operator, 'error');
console.log('rxjs, an error:', ofRxjs);
console.log('observable-fns, a completion:', completed);
console.log('observable-fns, an error:', failed);
const isSeen = ofRxjs === '1, 2, error' && completed === '1, 2, complete' && Object.values(failed).every((events) => events === 'error');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
