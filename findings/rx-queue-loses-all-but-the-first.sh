#!/usr/bin/env bash
# rx-queue 1.0.5, rxjs 7.8.2: a subscriber that takes one item empties the whole queue.
# Expected: items wait while the queue has no subscriber, as its README shows. So the second item waits for the next subscriber.
# Seen: the items behind the first are dropped at the end of `subscribe()`, as nobody listens any more.
# So a worker that takes its jobs with `firstValueFrom(queue)` does the first one, and waits for good.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rx-queue@1.0.5 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { firstValueFrom, take } from 'rxjs';
import { RxQueue } from 'rx-queue';

setTimeout(() => process.exit(1), 20_000).unref();

/** A queue of three jobs. */
function jobs() {
  const queue = new RxQueue();
  for (const job of ['wash', 'dry', 'fold']) queue.next(job);
  return queue;
}

/** What a subscriber gets at once. */
function itemsOf(source) {
  const items = [];
  source.subscribe((item) => items.push(item));
  return items.join();
}

const all = itemsOf(jobs());
const queue = jobs();
const first = await firstValueFrom(queue);
const rest = itemsOf(queue);
const other = jobs();
const two = itemsOf(other.pipe(take(2)));
const restOfTwo = itemsOf(other);
console.log('one subscriber:', all);
console.log('firstValueFrom():', first, '- the next subscriber:', rest || 'nothing');
console.log('take(2):', two, '- the next subscriber:', restOfTwo || 'nothing');
const isSeen = all === 'wash,dry,fold' && first === 'wash' && rest === '' && two === 'wash,dry' && restOfTwo === '';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
