#!/usr/bin/env bash
# qss 3.0.0: `decode()` leaves keys percent-encoded.
# Expected: the key that was encoded. The README: "Returns an Object with decoded keys and values."
# Seen: the values are decoded and the keys are not, so 'first name' comes back as 'first%20name'. URLSearchParams reads the same text right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund qss@3.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decode, encode } from 'qss';

const sent = [{ name: 'Ann Lee' }, { 'first name': 'Ann Lee' }, { 'tags[]': ['a b', 'c'] }, { größe: 'x' }];
const rows = sent.map((params) => [encode(params), JSON.stringify(decode(encode(params))), [...new URLSearchParams(encode(params)).keys()][0]]);
for (const [text, read, key] of rows) console.log(`${text} -> ${read}; URLSearchParams has the key "${key}"`);
const isSeen =
  rows.map(([, read]) => read).join(' ') ===
    '{"name":"Ann Lee"} {"first%20name":"Ann Lee"} {"tags%5B%5D":["a b","c"]} {"gr%C3%B6%C3%9Fe":"x"}' &&
  rows.map(([, , key]) => key).join() === 'name,first name,tags[],größe';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
