#!/usr/bin/env bash
# wonka 6.3.6, rxjs 7.8.2: `merge()` loses what an Observable emits during its subscription, such as the current value of a BehaviorSubject.
# Expected: every operator takes a source of `fromObservable()`, whose docstring promises "intercompatibility". `concat()` keeps the value.
# Seen: such a source pushes before it starts, and `merge()` drops what comes before the start.
# It drops the end too, so `of(1, 2, 3)` emits nothing and never ends.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund wonka@6.3.6 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { BehaviorSubject, merge as mergeOfRxjs, of } from 'rxjs';
import { concat, forEach, fromObservable, merge, onEnd, pipe } from 'wonka';

setTimeout(() => process.exit(1), 20_000).unref();

/** The events of an observable in rxjs, and in wonka behind one of its operators. */
const rxjs = (events, observable) =>
  mergeOfRxjs(observable).subscribe({ next: (value) => events.push(value), complete: () => events.push('end') });
const wonka = (operator) => (events, observable) =>
  pipe(
    operator([fromObservable(observable)]),
    onEnd(() => events.push('end')),
    forEach((value) => events.push(value)),
  );

function eventsOf(subscribe) {
  const status = new BehaviorSubject('offline');
  const [ofStatus, ofNumbers] = [[], []];
  subscribe(ofStatus, status);
  status.next('online');
  status.complete();
  subscribe(ofNumbers, of(1, 2, 3));
  return { ofStatus, ofNumbers };
}

const ofRxjs = eventsOf(rxjs);
const ofConcat = eventsOf(wonka(concat));
const ofMerge = eventsOf(wonka(merge));
console.log('rxjs, merge():', ofRxjs);
console.log('wonka, concat():', ofConcat);
console.log('wonka, merge():', ofMerge);
const isSeen =
  [ofRxjs, ofConcat].every(({ ofStatus }) => ofStatus.join() === 'offline,online,end') &&
  ofRxjs.ofNumbers.join() === '1,2,3,end' &&
  ofMerge.ofStatus.join() === 'online,end' &&
  ofMerge.ofNumbers.length === 0;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
