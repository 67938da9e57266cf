#!/usr/bin/env bash
# lwm2m-codec 0.1.1: its JSON reader keeps the first of a resource's instances and drops the others.
# Expected: `decode()` reads what `encode()` wrote, as it does from TLV. A device has several power sources, so LwM2M allows several instances of resource 6.
# Seen: the JSON text holds both instances. `decode()` returns the first one, for an object and for an object instance; for the resource alone it returns both.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund lwm2m-codec@0.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import codec from 'lwm2m-codec';

const sources = { 0: 1, 1: 5 };
const again = (type, path, value) => codec.decode(type, path, codec.encode(type, path, value));
console.log('the JSON text:', codec.encode('json', '/3/0', { 6: sources }).toString());
const rows = ['tlv', 'json'].map((type) => [
  Object.values(again(type, '/3', { 0: { 6: sources } })[0])[0],
  Object.values(again(type, '/3/0', { 6: sources }))[0],
  again(type, '/3/0/6', sources),
]);
for (const [i, row] of rows.entries()) console.log(['tlv', 'json'][i], 'at /3, /3/0 and /3/0/6:', row);
const isSeen = rows.map((row) => row.map((read) => Object.keys(read).join(' ')).join()).join('; ') === '0 1,0 1,0 1; 0,0,0 1';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
