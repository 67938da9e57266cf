#!/usr/bin/env bash
# restructure 3.0.2: an optional field whose condition looks at another field is read, but never written.
# Expected: the field is written where its condition is true. The README: "The `Optional` type only encodes or decodes when given condition is truthy."
# Seen: during `toBuffer()` the condition sees no fields of the structure, so the field is left out. `fromBuffer()` then reads the next byte in its place.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund restructure@3.0.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import * as r from 'restructure';

const Reading = new r.Struct({
  flags: r.uint8,
  unit: new r.Optional(r.uint8, function () {
    return this.flags & 1;
  }),
  value: r.uint16be,
});
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const right = Reading.fromBuffer(new Uint8Array([1, 5, 0x12, 0x34]));
const written = hex(Reading.toBuffer({ flags: 1, unit: 5, value: 0x1234 }));
const without = hex(Reading.toBuffer({ flags: 0, value: 0x1234 }));
console.log('01051234 is read as', { ...right });
console.log('flags 1, unit 5, value 0x1234 is written as', written);
console.log('flags 0, value 0x1234 is written as', without);
const isSeen = right.unit === 5 && right.value === 0x1234 && written === '011234' && without === '001234';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
