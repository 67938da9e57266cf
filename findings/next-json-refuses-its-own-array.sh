#!/usr/bin/env bash
# next-json 0.5.1: a Float64Array that holds NaN or Infinity is written, but cannot be read.
# Expected: it comes back. The README: "supports `-0`, `NaN` and `Infinity`" and "supports `TypedArray`s".
# Seen: `stringify()` writes `new Float64Array([1,NaN])`, and `parse()` throws a SyntaxError. In an Array, NaN and Infinity come back.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund next-json@0.5.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { NJSON } from 'next-json';

const read = (value) => {
  try {
    return NJSON.stringify(NJSON.parse(NJSON.stringify(value)));
  } catch ({ name, message }) {
    return `${name}: ${message}`;
  }
};
const sent = [[1, NaN, Infinity], Float64Array.of(1, 0.5), Float64Array.of(1, NaN), Float32Array.of(Infinity)];
const seen = sent.map(read);
for (const [i, result] of seen.entries()) console.log(NJSON.stringify(sent[i]), '->', result);
const isSeen =
  seen[0] === '[1,NaN,Infinity]' && seen[1] === 'new Float64Array([1,0.5])' && seen.slice(2).every((result) => /Error: Expected .* but "[NI]" found/.test(result));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
