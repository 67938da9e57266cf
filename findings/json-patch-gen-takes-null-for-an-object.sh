#!/usr/bin/env bash
# json-patch-gen 1.0.2: from `{}` to `null`, or from `null` to `{}`, it generates no operation.
# Expected: a `replace`. The README generates patches "of arbitrarily nested objects and arrays to any depth".
# Seen: the patch is empty, or leaves the change out, so the other side keeps the old value. With a key in the object it throws.
# A change from `[]` or 0 to `null` arrives. fast-json-patch, which applies the patches here, generates the `replace`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-patch-gen@1.0.2 fast-json-patch@3.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import jsonpatch from 'fast-json-patch';
import diff from 'json-patch-gen';

const changes = [
  [{ filter: {} }, { filter: null }],
  [{ filter: null }, { filter: {} }],
  [{ seats: [{}, 'Ann'] }, { seats: [null, 'Bob'] }],
  [{ filter: [] }, { filter: null }],
  [{ filter: 0 }, { filter: null }],
];
const apply = (document, patch) => JSON.stringify(jsonpatch.applyPatch(structuredClone(document), patch).newDocument);
const read = changes.map(([from, to]) => {
  const [patch, other] = [diff(from, to), jsonpatch.compare(from, to)];
  const result = apply(from, patch);
  console.log(JSON.stringify(from), 'to', JSON.stringify(to), 'patch:', JSON.stringify(patch), 'result:', result);
  return { isRight: result === JSON.stringify(to), isOtherRight: apply(from, other) === JSON.stringify(to), length: patch.length };
});
let thrown;
try {
  diff({ filter: { by: 'name' } }, { filter: null });
} catch (error) {
  thrown = error;
}
console.log('{"filter":{"by":"name"}} to {"filter":null} throws:', thrown?.message);
const isSeen =
  read.map(({ isRight }) => isRight).join() === 'false,false,false,true,true' &&
  read.map(({ length }) => length).join() === '0,0,1,1,1' &&
  read.every(({ isOtherRight }) => isOtherRight) &&
  thrown instanceof TypeError;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
