#!/usr/bin/env bash
# notepack.io 3.0.1: integers from 2^64 on arrive as other numbers.
# Expected: a number that no integer of MessagePack holds is written as a float64, which holds it exactly, or refused.
# Seen: 2^64 arrives as 0, and 1e20 as 7766279631452242000. `encode()` reports nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund notepack.io@3.0.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import notepack from 'notepack.io';

const { decode, encode } = notepack;
const seen = [2 ** 63, 2 ** 64, 1e20].map((number) => [number, decode(encode(number))]);
for (const [sent, arrived] of seen) console.log(`${sent} arrives as ${arrived}`);
const isSeen = seen[0][1] === 2 ** 63 && seen[1][1] === 0 && seen[2][1] === 7766279631452242000;
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
