#!/usr/bin/env bash
# avsc 5.7.9: `Type.forValue()` infers "float" for the current time in milliseconds, so the time changes by up to 65 s.
# Expected: "long" for an integer that does not fit in an "int", or "double". Avro's float has 24 bits, and a time needs 41.
# Seen: the inferred type calls the value valid, and reads 18:02:31.999 back as 18:01:29.856. From 2^31 on each integer is a float.
# Only from 2^53 - 1 on does the method infer "double".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund avsc@5.7.9 >/dev/null
cat >program.mjs <<'PROGRAM'
import avro from 'avsc';

const event = { name: 'login', at: Date.parse('2026-03-01T18:02:31.999Z') };
const type = avro.Type.forValue(event);
const read = type.fromBuffer(type.toBuffer(event));
const inferred = [2 ** 31 - 1, 2 ** 31, event.at, Number.MAX_SAFE_INTEGER].map((value) => avro.Type.forValue(value).typeName);
console.log('sent:', new Date(event.at).toISOString());
console.log('read:', new Date(read.at).toISOString());
console.log('valid:', type.isValid(event));
console.log('inferred for 2^31 - 1, 2^31, the time, 2^53 - 1:', inferred.join(', '));
const isSeen =
  type.isValid(event) && read.at === Math.fround(event.at) && read.at !== event.at && inferred.join() === 'int,float,float,double';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
