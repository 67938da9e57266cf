#!/usr/bin/env bash
# @ungap/structured-clone 1.4.0: a DataView over part of a buffer is read as one over the whole buffer.
# Expected: the same two bytes, as by `structuredClone()` of the platform. DataView is among the types that the README links to as supported.
# Seen: the offset and the length are lost, so the bytes 3 and 4 of a buffer are read as its bytes 1 and 2.
# A Uint8Array over the same part arrives as it was.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ungap/structured-clone@1.4.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { deserialize, serialize } from '@ungap/structured-clone';
import { parse, stringify } from '@ungap/structured-clone/json';

const { buffer } = Uint8Array.of(1, 2, 3, 4, 5);
const message = { length: new DataView(buffer, 2, 2), bytes: new Uint8Array(buffer, 2, 2) };
const ways = {
  platform: structuredClone(message),
  serialize: deserialize(JSON.parse(JSON.stringify(serialize(message)))),
  stringify: parse(stringify(message)),
};
const seen = Object.entries(ways).map(([way, { length, bytes }]) => {
  console.log(way, 'DataView:', length.byteLength, 'bytes, number:', length.getUint16(0), 'Uint8Array:', [...bytes]);
  return [length.byteLength, length.getUint16(0), ...bytes].join();
});
const isSeen = seen.join(' ') === '2,772,3,4 5,258,3,4 5,258,3,4';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
