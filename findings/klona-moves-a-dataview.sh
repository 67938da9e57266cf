#!/usr/bin/env bash
# klona 2.0.6: the clone of a DataView begins at the first byte of the buffer, wherever the original begins.
# Expected: a clone with the same bytes, as `structuredClone()` makes it. The README lists DataView as supported, and promises "a structurally equivalent clone".
# Seen: the clone is a view of the whole buffer. Its byte 0 is another one, and it is longer.
# A typed array with an offset is cloned as it should be.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund klona@2.0.6 >/dev/null
cat >program.mjs <<'PROGRAM'
import { klona } from 'klona';
import { klona as full } from 'klona/full';

// A message with a header of four bytes; the payload is the number 1999.
const message = new DataView(new ArrayBuffer(8));
message.setUint32(0, 0xcafe);
message.setUint32(4, 1999);
const payload = new DataView(message.buffer, 4);
const rows = {};
for (const [name, clone] of Object.entries({ structuredClone, klona, 'klona/full': full })) {
  const view = clone(payload);
  const bytes = clone(new Uint8Array(message.buffer, 4));
  rows[name] = { number: view.getUint32(0), byteLength: view.byteLength, 'as a Uint8Array': bytes.join() };
}
console.log('the original:', payload.getUint32(0), 'in', payload.byteLength, 'bytes');
console.table(rows);
const values = (name) => Object.values(rows[name]).join(' ');
const isSeen =
  values('structuredClone') === '1999 4 0,0,7,207' &&
  values('klona') === `${0xcafe} 8 0,0,7,207` &&
  values('klona/full') === values('klona');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
