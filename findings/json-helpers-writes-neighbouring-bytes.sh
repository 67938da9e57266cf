#!/usr/bin/env bash
# json-helpers 5.2.1: a Uint8Array that views a part of its buffer is written with the whole buffer.
# Expected: the bytes of the view. The README: "able to manage 'undefined', 'Date', 'Uint8Array' and 'Buffer'".
# Seen: the two bytes of a frame's body arrive with the header in front of them. `slice()`, which copies, arrives right; a Buffer does too.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-helpers@5.2.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import helpers from 'json-helpers';

const { JSONParserV2 } = helpers;
const frame = Uint8Array.of(0, 2, 65, 66, 255);
const read = (body) => [...JSONParserV2.parse(JSONParserV2.stringify({ body })).body].join();
const seen = [read(frame.slice(2, 4)), read(Buffer.from(frame.subarray(2, 4))), read(frame.subarray(2, 4))];
console.log('a copy of the bytes 65, 66 is read as', seen[0]);
console.log('a Buffer of them is read as', seen[1]);
console.log('a view of them is read as', seen[2]);
const isSeen = seen.join(' ') === '65,66 65,66 0,2,65,66,255';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
