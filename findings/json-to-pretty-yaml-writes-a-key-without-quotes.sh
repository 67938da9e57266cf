#!/usr/bin/env bash
# json-to-pretty-yaml 1.2.2, yaml 2.9.1: a key is never quoted, so JSON-LD's "@context" makes no YAML.
# Expected: YAML that is read as the same value. The README says "convert JSON to pretty YAML", and texts are quoted.
# Seen: a YAML parser refuses "@context". It takes "#main" for a comment and reads `null`, and "null" becomes an empty key.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-to-pretty-yaml@1.2.2 yaml@2.9.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import pretty from 'json-to-pretty-yaml';
import YAML from 'yaml';

const read = (text) => {
  try {
    return JSON.stringify(YAML.parse(text));
  } catch ({ message }) {
    return message.split(' at line')[0];
  }
};
const sent = [{ name: '@context' }, { '@context': 'https://schema.org', name: 'Ann' }, { '#main': 1 }, { null: 1 }, { '- a': 1 }];
const rows = sent.map((value) => [JSON.stringify(value), pretty.stringify(value), read(YAML.stringify(value))]);
for (const [value, text] of rows) console.log(`${value} is written as ${JSON.stringify(text)} and read as`, read(text));
const isSeen =
  rows.every(([value, , right]) => right === value) &&
  rows.map(([, text]) => read(text)).join('; ') ===
    '{"name":"@context"}; Plain value cannot start with reserved character @; null; {"":1}; [{"a":1}]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
