#!/usr/bin/env bash
# cbor-sync 1.0.4: a date from another CBOR library is read as a day of January 1970.
# Expected: 2026-03-21T20:04:00.000Z. CBOR's tag 1 counts seconds since 1970 (RFC 8949, 3.4.2).
# Seen: cbor-sync reads the number as milliseconds. Dates of its own pass, since it writes them as texts.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cbor-sync@1.0.4 cbor@10.0.12 >/dev/null
cat >program.mjs <<'PROGRAM'
import cbor from 'cbor';
import cborSync from 'cbor-sync';

const sent = new Date('2026-03-21T20:04:00.000Z');
const bytes = cbor.encode(sent);
const seen = [cborSync.decode(bytes), cborSync.decode(cborSync.encode(sent)), cbor.decode(bytes)].map((date) => date.toISOString());
console.log('sent:', sent.toISOString());
console.log('from cbor to cbor-sync:', seen[0]);
console.log('from cbor-sync to cbor-sync:', seen[1]);
console.log('from cbor to cbor:', seen[2]);
const isSeen = seen.join() === `1970-01-21T12:48:43.440Z,${sent.toISOString()},${sent.toISOString()}`;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
