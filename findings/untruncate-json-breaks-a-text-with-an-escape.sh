#!/usr/bin/env bash
# untruncate-json 0.0.1: a complete text that ends in a Unicode escape gets a second quote, so it is no JSON.
# Expected: a complete text stays as it is. The README shows `"Hello, Wor` with one quote added.
# Seen: "caf\u00e9", as json_encode() of PHP or json.dumps() of Python write it, comes back with a quote too many. Cut off, or with a letter behind it, it is completed right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund untruncate-json@0.0.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import untruncate from 'untruncate-json';

const read = (text) => {
  const completed = (untruncate.default ?? untruncate)(text);
  try {
    return JSON.parse(completed);
  } catch {
    return `no JSON: ${completed}`;
  }
};
const texts = ['"cafe"', '"caf\\u00e9', '"caf\\u00e9s"', '"caf\\u00e9"'];
const seen = texts.map(read);
for (const [i, result] of seen.entries()) console.log(texts[i], '->', result);
const isSeen = seen.join('; ') === 'cafe; café; cafés; no JSON: "caf\\u00e9""';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
