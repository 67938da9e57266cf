#!/usr/bin/env bash
# aggregate-async-iterator 1.2.5: `aggregateRoundRobin()` drops a live source once two others end in one round.
# Expected: all items of all sources, in turns. The README shows that a longer source goes on alone.
# Seen: the function removes ended sources from its list one by one, by the positions they had before. The second removal takes the source behind.
# So the longest of three files loses its end, and no error is reported. `aggregateFifo()` yields all items.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund aggregate-async-iterator@1.2.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import { aggregateFifo, aggregateRoundRobin } from 'aggregate-async-iterator';

setTimeout(() => process.exit(1), 20_000).unref();

async function* lines(...items) {
  yield* items;
}

/** The items of three sources, of which the first two are short. */
async function itemsOf(aggregate, second) {
  const items = [];
  for await (const item of aggregate([lines('a1'), lines(...second), lines('c1', 'c2', 'c3', 'c4')])) items.push(item);
  return items.sort().join();
}

const fifo = await itemsOf(aggregateFifo, ['b1']);
const apart = await itemsOf(aggregateRoundRobin, ['b1', 'b2']);
const together = await itemsOf(aggregateRoundRobin, ['b1']);
console.log('aggregateFifo():', fifo);
console.log('aggregateRoundRobin(), two sources end in different rounds:', apart);
console.log('aggregateRoundRobin(), two sources end in one round:', together);
const isSeen = fifo === 'a1,b1,c1,c2,c3,c4' && apart === 'a1,b1,b2,c1,c2,c3,c4' && together === 'a1,b1,c1,c2';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
