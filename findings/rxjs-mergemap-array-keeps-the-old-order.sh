#!/usr/bin/env bash
# rxjs-mergemap-array 0.1.0, rxjs 7.8.2: `mergeMapArray()` emits nothing when the elements of its array only change places.
# Expected: the output has the order and the length of the input, "even if position changes", as the README says.
# Seen: only a new element, a removed one or an inner value makes it emit. A sorted list stays unsorted, and a repeated element is missing.
# An array that becomes empty is emitted as often as it had different elements, and once more.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rxjs-mergemap-array@0.1.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { BehaviorSubject, Subject } from 'rxjs';
import { mergeMapArray } from 'rxjs-mergemap-array';

const ids = new Subject();
const outputs = [];
// An inner observable that emits once and stays open, as a query of a record does.
ids.pipe(mergeMapArray((id) => new BehaviorSubject(id))).subscribe((records) => outputs.push(records.join('')));

/** What the operator emits for one array. */
function outputsOf(...input) {
  const seen = outputs.length;
  ids.next(input);
  return outputs.slice(seen);
}

const first = outputsOf('a', 'b', 'c');
const sorted = outputsOf('c', 'b', 'a');
const repeated = outputsOf('c', 'b', 'a', 'a');
const emptied = outputsOf();
console.log('a, b, c:', first);
console.log('c, b, a:', sorted);
console.log('c, b, a, a:', repeated);
console.log('an empty array:', emptied);
const isSeen = first.join() === 'abc' && sorted.length === 0 && repeated.length === 0 && emptied.length === 4 && emptied.join('') === '';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
