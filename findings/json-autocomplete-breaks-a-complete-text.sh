#!/usr/bin/env bash
# json-autocomplete 0.1.3: a complete text that holds braces comes back as no JSON, or with a brace more.
# Expected: a complete text is left as it is, and braces in a text are no structure. The README: "Handles a wide range of incomplete JSON formats."
# Seen: "Use {name} here" gets `": null }"}` behind it. Cut off, a text with one opening brace gets a closing one into its value.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-autocomplete@0.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import jsonAutocomplete from 'json-autocomplete';

const read = (text) => {
  const completed = jsonAutocomplete(text);
  try {
    return JSON.stringify(JSON.parse(completed));
  } catch {
    return `no JSON: ${completed}`;
  }
};
const texts = ['{"text":"Use name here"}', '{"text":"Use {name} here"}', '{"code":"if (a) {', '{"text":"Use {name'];
const seen = texts.map(read);
for (const [i, result] of seen.entries()) console.log(texts[i], '->', result);
const isSeen = seen[0] === texts[0] && seen[1].startsWith('no JSON: {"text":"Use {name} here"}": null') && seen[2] === '{"code":"if (a) {}"}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
