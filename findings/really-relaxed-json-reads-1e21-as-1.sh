#!/usr/bin/env bash
# really-relaxed-json 0.3.2: 1e+21 is read as 1.
# Expected: 1e+21. `JSON.stringify()` writes each number from 10^21 on like this, and the README relaxes JSON.
# Seen: `toJson()` drops each positive exponent, so 6.02e+23 is read as 6. A negative exponent is kept.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund really-relaxed-json@0.3.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import relaxed from 'really-relaxed-json';

const sent = ['{"size":1e+21}', '{"count":6.02e+23}', '{"size":1e21}', '{"weight":2.5e-7}'];
const seen = sent.map((text) => JSON.stringify(JSON.parse(relaxed.toJson(text))));
for (const [i, text] of seen.entries()) console.log(sent[i], 'becomes', text);
const isSeen = seen.join(' ') === '{"size":1} {"count":6} {"size":1} {"weight":2.5e-7}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
