#!/usr/bin/env bash
# structurajs 0.12.6, immer 11.2.13: the inverse patches of a shorter `length` restore the number of the items, but none of the items.
# Expected: the old state, as with immer, to which the README says it is "very similar".
# Seen: an undo of `draft.list.length = 0` yields an array of holes. The patches hold the old `length` alone.
# An undo of `splice(0)`, which removes the same items, restores them.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund structurajs@0.12.6 immer@11.2.13 >/dev/null
cat >program.mjs <<'PROGRAM'
import * as immer from 'immer';
import * as structura from 'structurajs';

immer.enablePatches();

/** The list after a change and its undo. */
function undo({ produceWithPatches, applyPatches }, change) {
  const base = { list: ['Ann', 'Bob', 'Charlie'] };
  const [state, , inverse] = produceWithPatches(base, (draft) => {
    change(draft.list);
  });
  return { changed: JSON.stringify(state.list), undone: JSON.stringify(applyPatches(state, inverse).list) };
}

const empty = (list) => {
  list.length = 0;
};
const cut = (list) => {
  list.length = 1;
};
const splice = (list) => list.splice(0);
const rows = {
  'immer, length = 0': undo(immer, empty),
  'immer, length = 1': undo(immer, cut),
  'structura, splice(0)': undo(structura, splice),
  'structura, length = 0': undo(structura, empty),
  'structura, length = 1': undo(structura, cut),
};
console.table(rows);
const all = '["Ann","Bob","Charlie"]';
const undone = Object.values(rows).map((row) => row.undone);
const isSeen = undone.join(' ') === `${all} ${all} ${all} [null,null,null] ["Ann",null,null]`;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
