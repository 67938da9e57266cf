#!/usr/bin/env bash
# json-storage-formatter 3.0.3: NaN and Infinity are stored as `null`, and a BigInt as an empty object.
# Expected: the numbers. The README lists "NaN/Infinity" as supported, "Restored As number", and says "All types are preserved!"
# Seen: `formatFromStore(formatToStore(value))` returns `null` for them, and `{}` for a BigInt, without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-storage-formatter@3.0.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import formatter from 'json-storage-formatter';

const { formatFromStore, formatToStore } = formatter;
const sent = [undefined, new Date(0), NaN, Infinity, 5n];
const stored = sent.map((value) => formatToStore({ value }));
const seen = stored.map((text) => formatFromStore(text).value);
for (const [i, value] of seen.entries()) console.log(sent[i], 'is stored as', stored[i], 'and read as', value);
const isSeen =
  seen[0] === undefined && seen[1].getTime() === 0 && seen[2] === null && seen[3] === null && stored[4] === '{"value":{}}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
