#!/usr/bin/env bash
# peerjs-js-binarypack 2.1.0: NaN is read as 1.1125369292536007e-308, and -2147483649 as -2147483648.
# Expected: the README calls the format "95% MessagePack", which has all of these numbers. Others, such as 1e20, throw "Invalid integer".
# Seen: `pack()` accepts the values, and `unpack()` returns other ones. 2^63 comes back as -2^63. 1.5 and -2147483648 come back as they were.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund peerjs-js-binarypack@2.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { pack, unpack } from 'peerjs-js-binarypack';

const unchanged = [];
const changed = [];
for (const value of [1.5, -2147483648, NaN, -2147483649, 2 ** 63]) {
  const read = unpack(await pack(value));
  console.log(`${value}:`, read);
  (Object.is(read, value) ? unchanged : changed).push(read);
}
const isSeen = unchanged.join() === '1.5,-2147483648' && changed.join() === [1.1125369292536007e-308, -2147483648, -(2 ** 63)].join();
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
