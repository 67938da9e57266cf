#!/usr/bin/env bash
# jsonm 1.0.10: a negative number is read as a text.
# Expected: the number, as for positive ones. The README packs JSON messages for WebSockets.
# Seen: -1 arrives as '-1', in an object, in an array and alone, so `balance + 1` gives '-11'.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund jsonm@1.0.10 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Packer, Unpacker } from 'jsonm';

const [packer, unpacker] = [new Packer(), new Unpacker()];
const sent = [{ balance: 1 }, { balance: -1 }, { balance: -0.5 }, [3, -3], -1];
const seen = sent.map((value) => unpacker.unpack(JSON.parse(JSON.stringify(packer.pack(value)))));
for (const [i, value] of seen.entries()) console.log(JSON.stringify(sent[i]), 'is read as', JSON.stringify(value));
const isSeen = JSON.stringify(seen) === '[{"balance":1},{"balance":"-1"},{"balance":"-0.5"},[3,"-3"],"-1"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
