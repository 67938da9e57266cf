#!/usr/bin/env bash
# callbag-start-with 3.1.0, callbag-of 2.0.1, callbag-subscribe 1.5.1, rxjs 7.8.2: only the first subscriber gets the initial values.
# Expected: each subscriber does, as with `startWith()` of rxjs. The README says that the source emits them "before the actual emits".
# Seen: the operator takes the values out of its list for the first subscriber, so the list is empty for the next one.
# So a view that is mounted again does not show its "loading".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund callbag-start-with@3.1.0 callbag-of@2.0.1 callbag-subscribe@1.5.1 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import callbagOf from 'callbag-of';
import startWith from 'callbag-start-with';
import subscribe from 'callbag-subscribe';
import { of as ofRxjs, startWith as startWithRxjs } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();
const of = callbagOf.default;

const callbag = startWith('loading', 'connecting')(of('ready'));
const observable = ofRxjs('ready').pipe(startWithRxjs('loading', 'connecting'));

/** What a new subscriber of the callbag gets. */
function valuesOf() {
  const values = [];
  subscribe((value) => values.push(value))(callbag);
  return values.join();
}

/** What a new subscriber of the Observable gets. */
function valuesOfRxjs() {
  const values = [];
  observable.subscribe((value) => values.push(value));
  return values.join();
}

const expected = 'loading,connecting,ready';
const rxjs = [valuesOfRxjs(), valuesOfRxjs()];
const callbags = [valuesOf(), valuesOf()];
console.log('two subscribers of rxjs:', rxjs);
console.log('two subscribers of callbag-start-with:', callbags);
const isSeen = rxjs.every((values) => values === expected) && callbags[0] === expected && callbags[1] === 'ready';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
