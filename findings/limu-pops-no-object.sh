#!/usr/bin/env bash
# limu 4.1.3, immer 11.2.13: `pop()`, `reverse()` and a swap of two items have no effect on an array of objects.
# Expected: the state that immer makes of the same producer. The README compares the two libraries throughout.
# Seen: the array keeps its last object and its order. With texts in the array all three work, and `shift()` and `splice()` work with objects too.
# After `filter()`, the new array holds revoked proxies, so reading an item throws a TypeError.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund limu@4.1.3 immer@11.2.13 >/dev/null
cat >program.mjs <<'PROGRAM'
import { produce as immer } from 'immer';
import limu from 'limu';

/** The list after a producer; `read` turns an item into a text. */
function run(produce, list, change, read) {
  const state = produce({ list }, (draft) => {
    change(draft);
  });
  try {
    return state.list.map(read).join();
  } catch (error) {
    return error.constructor.name;
  }
}

const names = ['Ann', 'Bob', 'Charlie'];
const changes = {
  'pop()': ({ list }) => list.pop(),
  'reverse()': ({ list }) => list.reverse(),
  swap: ({ list }) => {
    [list[0], list[2]] = [list[2], list[0]];
  },
  'shift()': ({ list }) => list.shift(),
  'splice(2, 1)': ({ list }) => list.splice(2, 1),
  'filter()': (draft) => {
    draft.list = draft.list.filter((_, i) => i < 2);
  },
};
const rows = {};
for (const [title, change] of Object.entries(changes)) {
  const objects = (produce) => run(produce, names.map((name) => ({ name })), change, (item) => item.name);
  rows[title] = { immer: objects(immer), limu: objects(limu.produce), 'limu with texts': run(limu.produce, names, change, String) };
}
console.table(rows);
const all = names.join();
const limuOf = (title) => rows[title].limu;
const isSeen =
  ['pop()', 'reverse()', 'swap'].every((title) => limuOf(title) === all && rows[title].immer !== all) &&
  ['shift()', 'splice(2, 1)'].every((title) => limuOf(title) === rows[title].immer) &&
  limuOf('filter()') === 'TypeError' &&
  Object.values(rows).every((row) => row['limu with texts'] === row.immer);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
