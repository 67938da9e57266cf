#!/usr/bin/env bash
# msgpackr 2.1.4 behind @msgpack/msgpack 3.1.3: a time in milliseconds arrives as a BigInt.
# Expected: two libraries of one format carry `Date.now()`, a safe integer, from number to number.
# Seen: the encoder writes integers above 2^32 as uint64, and msgpackr reads each uint64 as a BigInt, however small.
# `JSON.stringify` of the result then throws. msgpackr itself writes the same number as a float, so it never sees this alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund msgpackr@2.1.4 @msgpack/msgpack@3.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { encode } from '@msgpack/msgpack';
import { pack, unpack } from 'msgpackr';

const message = { at: 1732824000123 };
const met = unpack(Buffer.from(encode(message)));
const alone = unpack(pack(message));
let written;
try {
  written = JSON.stringify(met);
} catch (error) {
  written = error.message;
}
console.log('from @msgpack/msgpack:', typeof met.at);
console.log('from msgpackr itself:', typeof alone.at);
console.log('JSON.stringify:', written);
const isSeen = typeof met.at === 'bigint' && typeof alone.at === 'number' && /BigInt/.test(written);
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
