#!/usr/bin/env bash
# php-serialize 5.1.3: it writes 0.0000001 as `d:1E-7;`, which it cannot read, nor PHP's `d:INF;`.
# Expected: `unserialize(serialize(value))` equals the value, and what PHP's `serialize()` writes can be read.
# Seen: a float without a point is taken for an integer, so both throw "Cannot convert 1E-7 to a BigInt". 0.00000015 is read right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund php-serialize@5.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import php from 'php-serialize';

const read = (text) => {
  try {
    return php.unserialize(text);
  } catch ({ message }) {
    return message;
  }
};
const texts = [...[0.5, 0.00000015, 0.0000001, 1e21].map((value) => php.serialize(value)), 'd:1.0E-7;', 'd:INF;', 'd:NAN;'];
const seen = texts.map(read);
for (const [i, value] of seen.entries()) console.log(texts[i], 'is read as', value);
const isSeen =
  texts.join(' ') === 'd:0.5; d:1.5E-7; d:1E-7; d:1E+21; d:1.0E-7; d:INF; d:NAN;' &&
  [0, 1, 4].map((i) => seen[i]).join() === '0.5,1.5e-7,1e-7' &&
  [2, 3, 5, 6].every((i) => /^Cannot convert .+ to a BigInt$/.test(seen[i]));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
