#!/usr/bin/env bash
# flatbuffers 25.9.23: a list of four numbers or more that is written as FlexBuffers cannot be read.
# Expected: `toObject(encode(list).buffer)` is the list.
# Seen: `encode()` writes lists of up to three numbers that can be read, and from four on `toObject()` throws a RangeError.
# In an object a list is read up to ten numbers, so small samples pass. A list of forty numbers and texts is read, too.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund flatbuffers@25.9.23 >/dev/null
cat >program.mjs <<'PROGRAM'
import flexbuffers from 'flatbuffers/js/flexbuffers.js';

const { encode, toObject } = flexbuffers;
/** What is read of a value: the value, or the error's name. */
function read(value) {
  try {
    return JSON.stringify(toObject(encode(value).buffer));
  } catch (error) {
    return error.name;
  }
}
const list = (length) => Array.from({ length }, (_, i) => i + 1);
const mixed = list(40).map((value, i) => (i % 2 ? value : `${value}`));
const seen = [read(list(3)), read(list(4)), read({ list: list(10) }), read({ list: list(11) })];
console.log('3 numbers:', seen[0]);
console.log('4 numbers:', seen[1]);
console.log('10 numbers in an object:', seen[2]);
console.log('11 numbers in an object:', seen[3]);
const isSeen =
  seen.join() === `[1,2,3],RangeError,${JSON.stringify({ list: list(10) })},RangeError` && read(mixed) === JSON.stringify(mixed);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
