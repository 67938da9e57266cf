#!/usr/bin/env bash
# cborg 6.1.5: `encode()` accepts a Map with numbers as keys, and `decode()` refuses the bytes.
# Expected: the README says that a Map "will be interpreted as an Object and will round-trip as such unless `useMaps` is supplied".
# So decoding returns { 1: 2 }, as for an object, or `encode()` throws, as it does for a Date.
# Seen: the sender succeeds and the receiver throws. With `useMaps` at the receiver the same bytes are a Map.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cborg@6.1.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decode, encode } from 'cborg';

function attempt(work) {
  try {
    return work();
  } catch (error) {
    return error.message;
  }
}

const bytes = encode(new Map([[1, 2]]));
const plain = attempt(() => decode(bytes));
const withMaps = attempt(() => decode(bytes, { useMaps: true }));
console.log('encode():', Buffer.from(bytes).toString('hex'));
console.log('decode():', plain);
console.log('decode() with useMaps:', withMaps);
const isSeen = /non-string keys not supported/.test(plain) && withMaps instanceof Map && withMaps.get(1) === 2;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
