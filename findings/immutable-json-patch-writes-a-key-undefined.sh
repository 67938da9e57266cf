#!/usr/bin/env bash
# immutable-json-patch 6.0.3, fast-json-patch 3.1.1: a key "-" of an object is written as "undefined", and never removed.
# Expected: the key "-", as fast-json-patch writes it. By RFC 6901 a "-" stands for the end of an array only.
# Seen: `add` with the path "/-" writes the key "undefined", and `remove` leaves the key "-" in place without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund immutable-json-patch@6.0.3 fast-json-patch@3.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import jsonPatch from 'fast-json-patch';
import { immutableJSONPatch } from 'immutable-json-patch';

const cases = [
  [{ stock: {} }, [{ op: 'add', path: '/stock/-', value: 3 }]],
  [{ stock: { '-': 3, m: 5 } }, [{ op: 'remove', path: '/stock/-' }]],
  [{ list: [1] }, [{ op: 'add', path: '/list/-', value: 3 }]],
];
const seen = cases.map(([document, patch]) => [
  JSON.stringify(jsonPatch.applyPatch(structuredClone(document), patch).newDocument),
  JSON.stringify(immutableJSONPatch(document, patch)),
]);
for (const [i, [right, own]] of seen.entries())
  console.log(JSON.stringify(cases[i][0]), JSON.stringify(cases[i][1][0]), '->', own, '; fast-json-patch:', right);
const isSeen = seen.join(' ') === '{"stock":{"-":3}},{"stock":{"undefined":3}} {"stock":{"m":5}},{"stock":{"-":3,"m":5}} {"list":[1,3]},{"list":[1,3]}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
