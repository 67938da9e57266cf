#!/usr/bin/env bash
# bson 7.3.4: a BigInt beyond 64 bits is stored as another number, and an invalid date as 1970.
# Expected: an error for a value that BSON has no type for. `serialize()` reports nothing.
# Seen: 2^63 comes back as -2^63, 2^64 + 5 as 5, and `new Date(NaN)` as 1970-01-01T00:00:00.000Z.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund bson@7.3.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import { deserialize, serialize } from 'bson';

const stored = deserialize(serialize({ big: 2n ** 63n, bigger: 2n ** 64n + 5n, at: new Date(NaN) }), { useBigInt64: true });
console.log('2^63:', stored.big);
console.log('2^64 + 5:', stored.bigger);
console.log('an invalid date:', stored.at);
const isSeen = stored.big === -(2n ** 63n) && stored.bigger === 5n && stored.at.getTime?.() === 0;
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
