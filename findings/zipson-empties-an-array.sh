#!/usr/bin/env bash
# zipson 0.2.12: an array of an empty object and numbers is read as an array of `undefined`.
# Expected: the array. The README calls zipson "a drop-in alternative to JSON.parse/stringify".
# Seen: `parse(stringify([{}, 5, 6]))` is [undefined, undefined, undefined], and nothing throws. Booleans and more empty objects are lost too.
# [{}, 'a'], [5, {}] and [{ a: 1 }, 5] arrive as they were.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund zipson@0.2.12 >/dev/null
cat >program.mjs <<'PROGRAM'
import zipson from 'zipson';

const sent = [
  [{}, 5, 6],
  [{}, false],
  [{}, {}],
  [{}, 'a'],
  [5, {}],
  [{ a: 1 }, 5],
];
const read = sent.map((value) => zipson.parse(zipson.stringify(value)));
for (const [i, value] of sent.entries()) console.log(value, 'is read as', read[i]);
const isLost = (value) => value.every((item) => item === undefined);
const isSame = (value, i) => JSON.stringify(value) === JSON.stringify(sent[i]);
const isSeen = read.every((value, i) => value.length === sent[i].length && (i < 3 ? isLost(value) : isSame(value, i)));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
