#!/usr/bin/env bash
# @stablelib/cbor 2.0.4: `encode()` cuts a date to whole seconds, so two events within one second become simultaneous.
# Expected: the date. JavaScript and CBOR's date texts keep milliseconds, and the type declarations say that dates are encoded "as a string".
# Seen: 18:02:31.999 is written as 18:02:31, and nothing throws. Its own `decode()` and cbor2 read that second.
# The same `decode()` reads the milliseconds that cbor2 has written.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @stablelib/cbor@2.0.4 cbor2@2.3.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decode, encode } from '@stablelib/cbor';
import { decode as otherDecode, encode as otherEncode } from 'cbor2';

const [start, end] = ['2026-03-01T18:02:31.001Z', '2026-03-01T18:02:31.999Z'].map((text) => new Date(text));
const [own, other, ofOther] = [decode(encode({ start, end })), otherDecode(encode({ start, end })), decode(otherEncode({ start, end }))];
console.log('sent:', start, end);
console.log('written and read by @stablelib/cbor:', own.start, own.end);
console.log('written by @stablelib/cbor, read by cbor2:', other.start, other.end);
console.log('written by cbor2, read by @stablelib/cbor:', ofOther.start, ofOther.end);
const isCut = ({ start, end }) => [start, end].every((date) => date.toISOString() === '2026-03-01T18:02:31.000Z');
const isSeen = isCut(own) && isCut(other) && ofOther.start.getTime() === start.getTime() && ofOther.end.getTime() === end.getTime();
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
