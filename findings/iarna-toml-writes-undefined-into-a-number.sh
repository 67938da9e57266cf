#!/usr/bin/env bash
# @iarna/toml 3.0.0: 0.0000001 is written as "1e-7.undefined".
# Expected: a number in TOML, as for 0.00000025. The README: "Better TOML parsing and stringifying".
# Seen: a small number of one digit gets ".undefined" behind it, and the package's own `parse()` refuses the whole text.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @iarna/toml@3.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import TOML from '@iarna/toml';

const read = (text) => {
  try {
    return TOML.parse(text).step;
  } catch ({ message }) {
    return message.split(',')[0];
  }
};
const rows = [0.5, 0.00000025, 0.0000001, 5e-9].map((step) => [step, TOML.stringify({ step }).trim()]);
for (const [step, text] of rows) console.log(`${step} is written as "${text}" and read as`, read(text));
const isSeen =
  rows.map(([, text]) => text).join('; ') === 'step = 0.5; step = 2.5e-7; step = 1e-7.undefined; step = 5e-9.undefined' &&
  rows.map(([, text]) => read(text)).slice(0, 2).join() === '0.5,2.5e-7' &&
  rows.slice(2).every(([, text]) => String(read(text)).startsWith('Unexpected character'));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
