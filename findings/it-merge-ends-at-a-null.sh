#!/usr/bin/env bash
# it-merge 3.0.15: the merged stream ends once any of its async sources yields `null` or `undefined`.
# Expected: the stream yields the values of all sources as they arrive, as its README says. Merged arrays keep their `null`.
# Seen: the stream takes such a value for its end. All later values of all sources are lost, and no error is reported.
# So one empty row of a database ends the rows of every other table. 0, `false` and an empty text arrive.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund it-merge@3.0.15 >/dev/null
cat >program.mjs <<'PROGRAM'
import merge from 'it-merge';

setTimeout(() => process.exit(1), 20_000).unref();

async function* rows(...values) {
  yield* values;
}

/** The values of a merged stream, as JSON. */
async function valuesOf(stream) {
  const values = [];
  for await (const value of stream) values.push(value);
  return JSON.stringify(values);
}

const ofArrays = await valuesOf(merge(['a', null, 'b'], [1, 2, 3]));
const ofFalsy = await valuesOf(merge(rows('a', 0, false, '', 'b')));
const ofNull = await valuesOf(merge(rows('a', null, 'b'), rows(1, 2, 3)));
const ofUndefined = await valuesOf(merge(rows('a', undefined, 'b')));
console.log('two arrays with a null:', ofArrays);
console.log('async rows with 0, false and an empty text:', ofFalsy);
console.log('two sources of async rows with a null:', ofNull);
console.log('async rows with undefined:', ofUndefined);
const isSeen = ofArrays === '["a",null,"b",1,2,3]' && ofFalsy === '["a",0,false,"","b"]' && ofNull === '["a",1]' && ofUndefined === '["a"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
