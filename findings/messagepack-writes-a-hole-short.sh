#!/usr/bin/env bash
# messagepack 1.1.12: an array with a hole becomes bytes that no decoder can read.
# Expected: `null` in its place, as JSON and the other encoders write, or an error.
# Seen: `encode([1, , 3])` writes a header for three elements, and two elements. A reader waits for a third, or throws.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund messagepack@1.1.12 @msgpack/msgpack@3.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decode as decodeOther } from '@msgpack/msgpack';
import { encode } from 'messagepack';

// eslint-disable-next-line no-sparse-arrays
const bytes = encode([1, , 3]);
const hex = Buffer.from(bytes).toString('hex');
let read;
try {
  read = decodeOther(bytes);
} catch (error) {
  read = error.message;
}
console.log('bytes:', hex);
console.log('@msgpack/msgpack:', read);
const isSeen = hex === '930103' && typeof read === 'string';
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
