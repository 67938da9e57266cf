#!/usr/bin/env bash
# iter-tools 7.5.4: a `break` out of a loop over `asyncBuffer()` throws "Iterator result undefined is not an object".
# Expected: the loop ends and the source is closed, as with `asyncFilter()`.
# Seen: the source is closed, but `return()` resolves with nothing, which the language refuses. A `return` inside the loop throws too.
# A loop that reads to the end, or that throws an exception of its own, works.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund iter-tools@7.5.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import { asyncBuffer, asyncFilter } from 'iter-tools';

setTimeout(() => process.exit(1), 20_000).unref();

/** What happens when a reader takes two rows of five, or all of them. */
async function eventsOf(wrap, count) {
  const events = [];
  async function* rows() {
    try {
      for (let n = 1; n <= 5; n++) yield n;
    } finally {
      events.push('closed');
    }
  }
  let read = 0;
  try {
    for await (const row of wrap(rows())) {
      read += row > 0;
      if (read === count) break;
    }
    events.push('done');
  } catch ({ name, message }) {
    events.push(`${name}: ${message}`);
  }
  return `${read} rows, ${events.join(', ')}`;
}

const seen = {
  filter: await eventsOf((rows) => asyncFilter(() => true, rows), 2),
  bufferToTheEnd: await eventsOf((rows) => asyncBuffer(2, rows), Infinity),
  buffer: await eventsOf((rows) => asyncBuffer(2, rows), 2),
};
console.log(seen);
const isSeen =
  seen.filter === '2 rows, closed, done' &&
  seen.bufferToTheEnd === '5 rows, closed, done' &&
  seen.buffer === '2 rows, closed, TypeError: Iterator result undefined is not an object';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
