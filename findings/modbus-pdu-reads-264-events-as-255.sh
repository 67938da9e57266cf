#!/usr/bin/env bash
# modbus-pdu 1.14.1: the answer to "get comm event counter" is read in the wrong places, so 264 events are read as 255.
# Expected: the status and the count have 16 bits each, as the Modbus specification says. It has `0B FF FF 01 08` as an example.
# `GetCommEventLog` of the same package reads the same two fields with 16 bits.
# Seen: `parse()` takes the second half of the status for the count, and `build()` writes 264 as 8.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund modbus-pdu@1.14.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import modbus from 'modbus-pdu';

const counter = modbus.Response(Buffer.from('0bffff0108', 'hex'));
const log = modbus.Response(Buffer.from('0c08ffff010801212000', 'hex'));
const built = modbus.GetCommEventCounter.Response.build(0, 264).toString('hex');
console.log('the counter:', counter);
console.log('the log:', log);
console.log('built for 264 events:', built);
const isSeen = counter.event_count === 255 && log.event_count === 264 && built === '0b0008';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
