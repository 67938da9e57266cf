#!/usr/bin/env bash
# postal 2.0.6: `distinctUntilChanged()` passes on each number, whether it has changed or not.
# Expected: 21, 22, 21 for the data 21, 21, 22, 21. For texts and plain objects it is so, and the README shows it for an object.
# Seen: it compares the new data with a copy of the old, and copies all that is no text as a plain object. So booleans, `null`, arrays and dates never seem unchanged.
# `distinct()` takes two equal numbers, arrays or dates for one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal@2.0.6 >/dev/null
cat >program.mjs <<'PROGRAM'
import postal from 'postal';

/** What a subscriber gets of the data old, old, new, old. */
function got(operator, [old, other]) {
  const channel = postal.channel(`${operator} ${typeof old} ${old}`);
  const data = [];
  channel.subscribe('reading', (value) => data.push(value))[operator]();
  for (const value of [old, old, other, old]) channel.publish('reading', structuredClone(value));
  return data;
}

const rows = {
  texts: ['21', '22'],
  objects: [{ celsius: 21 }, { celsius: 22 }],
  numbers: [21, 22],
  booleans: [false, true],
  arrays: [[21], [22]],
  dates: [new Date(21), new Date(22)],
};
const lengths = {};
for (const [title, values] of Object.entries(rows)) {
  const [changed, distinct] = [got('distinctUntilChanged', values), got('distinct', values)];
  console.log(`${title}: distinctUntilChanged() passes on ${JSON.stringify(changed)}, distinct() ${JSON.stringify(distinct)}`);
  lengths[title] = `${changed.length}/${distinct.length}`;
}
const isSeen = Object.values(lengths).join() === '3/2,3/2,4/2,4/2,4/2,4/2';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
