#!/usr/bin/env bash
# highland 2.13.5: a fork that has ended, after `take(2)` for example, stalls all other forks of its stream for good.
# Expected: a stream pulls as fast "as the slowest consumer can handle them", as the documentation of `fork()` says. A reader that has ended is none.
# Seen: the other fork gets the same two elements, and neither a third one nor the end. With `observe()` instead it gets all.
# So a reader that wants only the head of a file stops the reader of the whole file.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund highland@2.13.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import highland from 'highland';

setTimeout(() => process.exit(1), 20_000).unref();

function eventsOf(stream) {
  const events = [];
  stream.each((row) => events.push(row)).done(() => events.push('end'));
  return events;
}

const forked = highland([1, 2, 3, 4]);
const [short, long] = [forked.fork(), forked.fork()];
const ofForks = { short: eventsOf(short.take(2)), long: eventsOf(long) };
const observed = highland([1, 2, 3, 4]);
const observer = observed.observe();
const ofObserver = { short: eventsOf(observer.take(2)), long: eventsOf(observed) };
await delay(500);
console.log('two forks:', ofForks);
console.log('a stream and its observer:', ofObserver);
const isSeen =
  [ofForks, ofObserver].every((events) => events.short.join() === '1,2,end') &&
  ofForks.long.join() === '1,2' &&
  ofObserver.long.join() === '1,2,3,4,end';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
