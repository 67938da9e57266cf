#!/usr/bin/env bash
# jsonrepair 3.15.0: valid JSON whose last value is a text with an opening brace is refused.
# Expected: a valid document comes back as it was. The README repairs "invalid JSON documents".
# Seen: `jsonrepair()` throws "Unexpected character". The same value passes if another key follows, or in an array.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund jsonrepair@3.15.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { jsonrepair } from 'jsonrepair';

const repair = (text) => {
  try {
    return jsonrepair(text) === text ? 'as it was' : 'changed';
  } catch ({ message }) {
    return message;
  }
};
const texts = [{ start: '{', end: '}' }, { start: '[' }, ['{'], { start: '{' }, { code: 'if (ready) {' }].map((value) => JSON.stringify(value));
const seen = texts.map(repair);
for (const [i, text] of texts.entries()) console.log(text, '->', seen[i]);
const isSeen = seen.slice(0, 3).every((result) => result === 'as it was') && seen.slice(3).every((result) => result.startsWith('Unexpected character "'));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
