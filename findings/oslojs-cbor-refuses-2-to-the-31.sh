#!/usr/bin/env bash
# @oslojs/cbor 1.0.0: an integer from 2^31 to 2^32 - 1 is refused with an empty TypeError, for example a time of 2040 in seconds.
# Expected: the integer. The package decodes smaller and larger ones, and CBOR writes these in four bytes without a sign.
# Seen: it reads the four bytes with a sign, so its own constructor refuses the negative result. -2^31 - 1 to -2^32 are refused likewise.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @oslojs/cbor@1.0.0 cbor2@2.3.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decodeCBORToNativeValueNoLeftoverBytes as decode } from '@oslojs/cbor';
import { encode } from 'cbor2';

const sent = [2 ** 31 - 1, 2 ** 31, Date.UTC(2040, 0) / 1000, 2 ** 32 - 1, 2 ** 32, -(2 ** 31), -(2 ** 31) - 1];
const read = sent.map((value) => {
  try {
    return decode(encode({ value }), 10).value;
  } catch (error) {
    return error;
  }
});
for (const [i, value] of read.entries())
  console.log(sent[i], 'is read as', value instanceof Error ? `${value.name}: "${value.message}"` : value);
const isRefused = [false, true, true, true, false, false, true];
const isSeen = read.every((value, i) => (isRefused[i] ? value instanceof TypeError && value.message === '' : value === sent[i]));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
