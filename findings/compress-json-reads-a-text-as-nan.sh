#!/usr/bin/env bash
# compress-json 3.4.0: a text that begins with `N|` is read as NaN or Infinity, or not at all.
# Expected: the text. The README says that the package "supports all JSON types"; NaN and Infinity are no JSON.
# Seen: `compress()` escapes a text that begins with `b|`, `n|`, `o|`, `a|` or `s|`, but not with `N|`, which marks NaN and Infinity.
# So "N|0" comes back as NaN, and "N|E|S|W" makes `decompress()` throw, for the whole document.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund compress-json@3.4.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { compress, decompress } from 'compress-json';

const read = ['N|0', 'N|+', 'N|E|S|W', 'n|0', 's|x', 'b|T', 'E|N'].map((label) => {
  const stored = JSON.stringify(compress({ id: 7, label }));
  try {
    const { label: value } = decompress(JSON.parse(stored));
    console.log(JSON.stringify(label), 'is read as', value);
    return value === label ? 'same' : String(value);
  } catch (error) {
    console.log(JSON.stringify(label), 'throws:', error.message);
    return 'throws';
  }
});
const isSeen = read.join() === 'NaN,Infinity,throws,same,same,same,same';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
