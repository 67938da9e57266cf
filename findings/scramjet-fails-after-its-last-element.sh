#!/usr/bin/env bash
# scramjet 4.37.0: `while()` and `until()` fail with "write after end" where their source has further elements at once.
# Expected: the stream "stops reading and emits end as soon as it finds the first chunk that evaluates to false", as its documentation says.
# Seen: the elements before come out, and then an error instead of the end. `toArray()` rejects. A source that waits between elements works.
# So a test with a slow source passes, and a file with lines after the wanted ones fails.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund scramjet@4.37.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import scramjet from 'scramjet';

setTimeout(() => process.exit(1), 20_000).unref();

async function* slow(values) {
  for (const value of values) {
    yield value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The elements of a stream, and its end. */
async function eventsOf(stream) {
  const events = [];
  try {
    for await (const value of stream) events.push(value);
    events.push('end');
  } catch ({ message }) {
    events.push(message);
  }
  return events.join(', ');
}

const values = [1, 2, 3, 4, 5];
const from = (source) => scramjet.DataStream.from(source);
const seen = {
  whileSlow: await eventsOf(from(slow(values)).while((value) => value < 3)),
  untilSlow: await eventsOf(from(slow(values)).until((value) => value === 3)),
  whileFast: await eventsOf(from(values).while((value) => value < 3)),
  untilFast: await eventsOf(from(values).until((value) => value === 3)),
};
console.log(seen);
const isSeen =
  [seen.whileSlow, seen.untilSlow].every((events) => events === '1, 2, end') &&
  [seen.whileFast, seen.untilFast].every((events) => events === '1, 2, write after end');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
