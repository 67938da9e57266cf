#!/usr/bin/env bash
# lua-json 1.0.1: a backslash is not escaped, so the path C:\new is read with a line break in it.
# Expected: `parse(format(value))` equals the value, as it does for quotes, which are escaped.
# Seen: `format()` writes a text with its backslashes and line breaks as they are. A text of two lines is no Lua, and its own `parse()` refuses it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund lua-json@1.0.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import lua from 'lua-json';

const read = (text) => {
  try {
    return JSON.stringify(lua.parse(text));
  } catch ({ message }) {
    return message.split("'")[0];
  }
};
const sent = [{ text: "it's" }, { path: 'C:\\new' }, { text: 'two\nlines' }];
const seen = sent.map((value) => read(lua.format(value)));
for (const [i, result] of seen.entries()) console.log(JSON.stringify(sent[i]), 'is read as', result);
const isSeen = seen[0] === '{"text":"it\'s"}' && seen[1] === '{"path":"C:\\new"}' && seen[2].includes('unfinished string');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
