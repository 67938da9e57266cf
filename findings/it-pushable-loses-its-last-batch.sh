#!/usr/bin/env bash
# it-pushable 3.2.4: `pushableV()` loses the values that are read together with its end.
# Expected: the README pushes 1, 2 and 3, calls `end()`, and says that a reader gets `[ [1, 2, 3] ]`.
# Seen: the reader gets nothing. The batch is the value of the result that has `done: true`, and a loop ignores that value.
# So the last batch is lost whenever the source ends before it is read. `pushable()` delivers all three values.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund it-pushable@3.2.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import { pushable, pushableV } from 'it-pushable';

setTimeout(() => process.exit(1), 20_000).unref();

/** What a loop reads from three values, and from an end that comes before or after the loop has begun. */
async function valuesOf(create, isLate) {
  const source = create({ objectMode: true });
  source.push(1).push(2).push(3);
  if (isLate) setTimeout(() => source.end(), 50);
  else source.end();
  const values = [];
  for await (const value of source) values.push(value);
  return JSON.stringify(values);
}

const single = await valuesOf(pushable, false);
const late = await valuesOf(pushableV, true);
const ended = await valuesOf(pushableV, false);
console.log('pushable():', single);
console.log('pushableV() with a later end:', late);
console.log('pushableV():', ended);
const isSeen = single === '[1,2,3]' && late === '[[1,2,3]]' && ended === '[]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
