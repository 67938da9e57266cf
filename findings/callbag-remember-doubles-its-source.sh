#!/usr/bin/env bash
# callbag-remember 2.0.0, callbag-subscribe 1.5.1: a subscriber that comes after all others have left gets each value twice.
# Expected: one subscription of the source, and the remembered value first, as with `shareReplay(1)`, which the README names.
# Seen: the last subscriber that leaves does not end the source, and the next one begins it a second time.
# So values are doubled at the second visit and tripled at the third. The remembered value is not emitted.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund callbag-remember@2.0.0 callbag-subscribe@1.5.1 callbag-from-obs@1.2.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import fromObs from 'callbag-from-obs';
import callbagRemember from 'callbag-remember';
import subscribe from 'callbag-subscribe';
import { defer, shareReplay, Subject } from 'rxjs';

const { default: remember } = callbagRemember;

/** What three visitors get, one after the other. */
function visits(share) {
  const source = new Subject();
  let runs = 0;
  const rows = share(
    defer(() => {
      runs += 1;
      return source;
    }),
  );
  const seen = ['a', 'b', 'c'].map((value) => {
    const values = [];
    const leave = rows((got) => values.push(got));
    source.next(value);
    leave();
    return values.join('');
  });
  return { seen, runs };
}

const ofRxjs = visits((rows) => {
  const shared = rows.pipe(shareReplay(1));
  return (next) => {
    const subscription = shared.subscribe(next);
    return () => subscription.unsubscribe();
  };
});
const ofCallbag = visits((rows) => {
  const shared = remember(fromObs(rows));
  return (next) => subscribe(next)(shared);
});
console.log('rxjs, shareReplay(1):', ofRxjs);
console.log('callbag, remember():', ofCallbag);
const isSeen = ofRxjs.seen.join() === 'a,ab,bc' && ofRxjs.runs === 1 && ofCallbag.seen.join() === 'a,bb,ccc' && ofCallbag.runs === 3;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
