#!/usr/bin/env bash
# callbag-from-obs 1.2.0, callbag-basics 4.0.0, rxjs 7.8.2: `take(1)` leaves an Observable subscribed for good if it has a current value.
# Expected: the end that `take()` sends upwards unsubscribes from the Observable, as it does for a value that comes later.
# Seen: the first value comes during the subscription, so there is nothing to unsubscribe yet. Nobody does it afterwards.
# So a poll that starts with a known value goes on for a reader that has left.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund callbag-from-obs@1.2.0 callbag-basics@4.0.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import callbags from 'callbag-basics';
import fromObs from 'callbag-from-obs';
import { finalize, interval, startWith, take as takeOfRxjs, tap } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();

const { forEach, pipe, take } = callbags;

/** What happens in a poll whose reader takes one value. */
async function eventsOf(start, read) {
  const events = [];
  const poll = interval(20).pipe(
    tap(() => events.push('polls')),
    finalize(() => events.push('stops')),
  );
  read(start(poll), (value) => events.push(value));
  await delay(500);
  return events;
}

const known = startWith('known');
const later = (poll) => poll;
const rxjs = (poll, next) => poll.pipe(takeOfRxjs(1)).subscribe(next);
const callbag = (poll, next) => pipe(fromObs(poll), take(1), forEach(next));
const ofRxjs = await eventsOf(known, rxjs);
const ofLater = await eventsOf(later, callbag);
const ofKnown = await eventsOf(known, callbag);
console.log('rxjs, a known value:', ofRxjs.join(', '));
console.log('callbag, a later value:', ofLater.join(', '));
console.log('callbag, a known value:', [...new Set(ofKnown)].join(', '));
const isSeen =
  ofRxjs.join() === 'known' &&
  ofLater.join() === 'polls,0,stops' &&
  ofKnown[0] === 'known' &&
  ofKnown.length > 3 &&
  !ofKnown.includes('stops');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
