#!/usr/bin/env bash
# rsocket-flowable 0.0.27: `take(1)` emits all values if the subscriber requests them one by one.
# Expected: `take()` "requests a fixed number of values", as its source says, however its subscriber requests them.
# Seen: a subscriber that calls `request(1)` in `onNext()` gets all three of `just(1, 2, 3)`. One that requests two at the start gets one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rsocket-flowable@0.0.27 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Flowable } from 'rsocket-flowable';

/** The values that a subscriber gets of `take(1)`. */
function taken({ first, next }) {
  const values = [];
  let subscription;
  Flowable.just(1, 2, 3)
    .take(1)
    .subscribe({
      onSubscribe: (given) => {
        subscription = given;
        subscription.request(first);
      },
      onNext: (value) => {
        values.push(value);
        if (next) subscription.request(next);
      },
    });
  return values.join();
}
const atStart = taken({ first: 2 });
const oneByOne = taken({ first: 1, next: 1 });
console.log('with two requested at the start:', atStart);
console.log('with one requested for each value:', oneByOne);
const isSeen = atStart === '1' && oneByOne === '1,2,3';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
