#!/usr/bin/env bash
# generate-json-patch 1.2.9, fast-json-patch 3.1.1, jsondiffpatch 0.7.7: with `objectHash: ({ id }) => id`, changes in an array of texts are lost.
# Expected: the patch yields the new document. The README: "Useful to detect moves and edits for arrays of objects."
# jsondiffpatch, whose option has this name, calls it for objects only.
# Seen: the function is called for each text, too. All texts get the hash `undefined`, so a new tag becomes an old one, or is never added.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund generate-json-patch@1.2.9 fast-json-patch@3.1.1 jsondiffpatch@0.7.7 >/dev/null
cat >program.mjs <<'PROGRAM'
import { generateJSONPatch } from 'generate-json-patch';
import jsonPatch from 'fast-json-patch';
import { create } from 'jsondiffpatch';

const objectHash = ({ id }) => id;
const [before, after] = [
  { items: [{ id: 1, n: 1 }], tags: ['red', 'blue'] },
  { items: [{ id: 1, n: 2 }], tags: ['red', 'green', 'gold'] },
];
const patched = (options) => JSON.stringify(jsonPatch.applyPatch(structuredClone(before), generateJSONPatch(before, after, options)).newDocument);
const differ = create({ objectHash });
const seen = [patched(), patched({ objectHash }), JSON.stringify(differ.patch(structuredClone(before), differ.diff(before, after)))];
console.log('new document:              ', JSON.stringify(after));
console.log('patched without objectHash:', seen[0]);
console.log('patched with objectHash:   ', seen[1]);
console.log('patched by jsondiffpatch:  ', seen[2]);
const isSeen = seen[0] === JSON.stringify(after) && seen[2] === seen[0] && seen[1] === '{"items":[{"id":1,"n":2}],"tags":["red","red"]}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
