#!/usr/bin/env bash
# callbag-debounce 2.1.3, callbag-create 2.1.3, callbag-subscribe 1.5.1, rxjs 7.8.2: a completion drops the value that still waits.
# Expected: the last value and then the end, as with `debounceTime()` of rxjs. The README says that an end is sent "when the last value is debounced".
# Seen: the end takes the place of the waiting value. The subscriber gets the end alone.
# So the last input of a form that is closed at once is never saved.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund callbag-debounce@2.1.3 callbag-create@2.1.3 callbag-subscribe@1.5.1 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import create from 'callbag-create';
import { debounce } from 'callbag-debounce';
import subscribe from 'callbag-subscribe';
import { debounceTime, Observable } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();

/** An observer, and the events that it gets. */
function recorder() {
  const events = [];
  return { events, next: (value) => events.push(value), complete: () => events.push('complete') };
}

const rxjs = recorder();
new Observable((subscriber) => {
  subscriber.next('draft');
  subscriber.next('final');
  subscriber.complete();
})
  .pipe(debounceTime(50))
  .subscribe(rxjs);

const open = recorder();
subscribe(open)(
  debounce(50)(
    create((next) => {
      next('draft');
      next('final');
    }),
  ),
);

const closed = recorder();
subscribe(closed)(
  debounce(50)(
    create((next, error, complete) => {
      next('draft');
      next('final');
      complete();
    }),
  ),
);

await delay(1_000);
console.log('rxjs:', rxjs.events);
console.log('callbag-debounce, without an end:', open.events);
console.log('callbag-debounce, with an end:', closed.events);
const isSeen = rxjs.events.join() === 'final,complete' && open.events.join() === 'final' && closed.events.join() === 'complete';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
