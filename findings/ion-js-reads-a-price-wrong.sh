#!/usr/bin/env bash
# ion-js 5.2.1: a decimal read from text is not the nearest number: "19.99" is read as 19.990000000000002.
# Expected: 19.99, as `Number()` and `JSON.parse()` read it. Each JSON text is also an Ion text, and Ion keeps decimals exactly.
# Seen: `numberValue()`, arithmetic and `JSON.stringify()` use 1999 times 10^-2, rounded twice. Of all prices below 100.00, 1327 are wrong.
# `dumpText()` of the same value writes 19.99.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ion-js@5.2.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import ion from 'ion-js';

const text = '{"price":19.99,"share":0.3}';
const value = ion.load(text);
const prices = Array.from({ length: 10_000 }, (_, cents) => (cents / 100).toFixed(2));
const wrong = prices.filter((price) => ion.load(price).numberValue() !== Number(price));
console.log('text:', text);
console.log('JSON.stringify(JSON.parse()):', JSON.stringify(JSON.parse(text)));
console.log('JSON.stringify(ion.load()):', JSON.stringify(value));
console.log('ion.dumpText(ion.load()):', ion.dumpText(value));
console.log('wrong of', prices.length, 'prices:', wrong.length);
const isSeen =
  JSON.stringify(value) === '{"price":19.990000000000002,"share":0.30000000000000004}' &&
  ion.dumpText(value).includes('19.99,') &&
  value.price.numberValue() !== 19.99 &&
  wrong.length === 1327;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
