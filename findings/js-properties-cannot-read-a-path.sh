#!/usr/bin/env bash
# @js.properties/properties 0.5.4, dot-properties 1.1.2: a path like C:\users, once written, cannot be read.
# Expected: `parse(stringify(values))` equals the values. In a .properties file `\\` is a backslash, so `\\users` is `\users`.
# Seen: `parse()` takes the second backslash and the "u" behind it for a Unicode escape, and throws. dot-properties reads the same text right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @js.properties/properties@0.5.4 dot-properties@1.1.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { parse, stringify } from '@js.properties/properties';
import dot from 'dot-properties';

const read = (parser, text) => {
  try {
    return parser(text).home;
  } catch ({ message }) {
    return message;
  }
};
const rows = ['C:\\temp', 'C:\\users\\ann', 'a\\u0041'].map((home) => {
  const text = stringify({ home });
  return [home, text.trim(), read(parse, text), read(dot.parse, text)];
});
for (const [home, text, own, other] of rows) console.log(`${home} is written as "${text}" and read as "${own}", by dot-properties as "${other}"`);
const isSeen =
  rows.every(([home, , , other]) => other === home) &&
  rows.map(([, , own]) => own).join('; ') === 'C:\\temp; Invalid Unicode escape sequence; aA' &&
  rows[1][1] === 'home = C:\\\\users\\\\ann';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
