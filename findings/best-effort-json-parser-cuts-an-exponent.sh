#!/usr/bin/env bash
# best-effort-json-parser 1.5.1: in a text that is cut off, 2.5e-7 is read as 2.5, and the next key is lost.
# Expected: the number, or no number. The README promises "the partial data" of an incomplete text.
# Seen: a number ends at its exponent, so 2.5e-7 becomes 2.5. The exponent becomes part of the next key, or an item of the array.
# `JSON.stringify()` writes each number below 0.000001 like this. The complete text is read right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund best-effort-json-parser@1.5.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { disableErrorLogging, parse } from 'best-effort-json-parser';

disableErrorLogging();
const texts = [
  JSON.stringify({ weight: 0.00000025, unit: 'gram', note: 'dry' }),
  JSON.stringify({ weight: 0.25, unit: 'gram', note: 'dry' }),
  JSON.stringify([0.00000025, 7, 'dry']),
];
const read = texts.map((text) => [text, text.slice(0, -4)].map((part) => JSON.stringify(parse(part))));
for (const [i, [complete, cut]] of read.entries()) {
  console.log('text:', texts[i]);
  console.log('  read:', complete);
  console.log('  read without its last four characters:', cut);
}
const cuts = read.map(([, cut]) => cut);
const isSeen =
  read.every(([complete], i) => complete === texts[i]) &&
  cuts[0] === '{"weight":2.5,"e-7,\\"unit\\"":"gram","note":"d"}' &&
  cuts[1] === '{"weight":0.25,"unit":"gram","note":"d"}' &&
  cuts[2] === '[2.5,"e-7",7,"d"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
