#!/usr/bin/env bash
# osc-js 2.4.1, osc 2.4.5: a whole number beyond 32 bits wraps around: 4294967296 is sent as 0.
# Expected: a number that does not fit an OSC integer is sent as a float, as by the package osc, or refused.
# Seen: `Message` gives each whole number the type `i` and writes its lower 32 bits. 2147483648 arrives as -2147483648.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund osc-js@2.4.1 osc@2.4.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import osc from 'osc';
import OSC from 'osc-js';

const own = (value) => {
  const bytes = new OSC.Message('/time', value).pack();
  const message = new OSC.Message();
  message.unpack(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return message.args[0];
};
const other = (value) => osc.readPacket(osc.writePacket({ address: '/time', args: [value] }), {}).args[0];
const sent = [2147483647, 2147483648, 4294967296, 1700000000000];
const rows = sent.map((value) => [value, own(value), other(value)]);
for (const [value, seen, right] of rows) console.log(`${value} arrives as ${seen}; with osc as ${right}`);
const isSeen =
  rows.map(([, seen]) => seen).join() === '2147483647,-2147483648,0,-807049216' &&
  rows.slice(1).every(([value, , right]) => Math.abs(right / value - 1) < 1e-6);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
