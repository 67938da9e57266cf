#!/usr/bin/env bash
# @s-libs/rxjs-core 20.0.0, rxjs 7.8.2: `cache()` withholds from its first subscriber what comes during the subscription, but for the last value.
# Expected: its documentation calls it "very similar to `shareReplay(1)`, except that once all subscribers unsubscribe" it unsubscribes too.
# Seen: it subscribes to its source before it adds the subscriber. Of several values at that moment only the last one is replayed.
# So `startWith('loading')` never shows in front of a current value, and `from(list)` emits its last element alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @s-libs/rxjs-core@20.0.0 @s-libs/js-core@20.0.0 @s-libs/micro-dash@20.0.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { cache } from '@s-libs/rxjs-core';
import { BehaviorSubject, from, map, shareReplay, startWith } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();

/** What the only subscriber gets of a list, and of a state behind `startWith()`. */
function valuesOf(operator) {
  const ofList = [];
  from(['a', 'b', 'c']).pipe(operator()).subscribe((value) => ofList.push(value));
  const ofState = [];
  const user = new BehaviorSubject('Ann');
  user.pipe(startWith('loading'), operator()).subscribe((value) => ofState.push(value));
  user.next('Bob');
  return [ofList, ofState].map((values) => values.join()).join('; ');
}

const plain = valuesOf(() => map((value) => value));
const shared = valuesOf(() => shareReplay({ bufferSize: 1, refCount: true }));
const cached = valuesOf(cache);
console.log('without a cache:', plain);
console.log('shareReplay():', shared);
console.log('cache():', cached);
const isSeen = [plain, shared].every((values) => values === 'a,b,c; loading,Ann,Bob') && cached === 'c; Ann,Bob';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
