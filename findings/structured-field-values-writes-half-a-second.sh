#!/usr/bin/env bash
# structured-field-values 2.0.4: a date with a fraction of a second, as `new Date()` has one, is encoded as a text that no parser accepts.
# Expected: "@1659578233", or an error. A date of a structured field is an integer of seconds (RFC 9651, 3.3.7).
# Seen: `encodeItem()` returns "@1659578233.5", and `decodeItem()` of the same package throws. structured-headers drops the fraction.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund structured-field-values@2.0.4 structured-headers@2.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decodeItem, encodeItem } from 'structured-field-values';
import { serializeItem } from 'structured-headers';

const date = new Date(1659578233_500);
const [whole, text] = [encodeItem(new Date(1659578233_000)), encodeItem(date)];
let error;
try {
  decodeItem(text);
} catch (thrown) {
  error = thrown;
}
console.log('a whole second:', whole, 'is decoded as', decodeItem(whole).value);
console.log('half a second later:', text, 'is decoded with', error?.message);
console.log('structured-headers:', serializeItem(date));
const isSeen = text === '@1659578233.5' && error instanceof Error && serializeItem(date) === '@1659578233';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
