#!/usr/bin/env bash
# js-sdsl 4.4.2: after `unique()`, a LinkList pops an item that `unique()` has removed from its end.
# Expected: `unique()` removes an item for good, as in a Vector or a Deque. Its documentation says that it "removes the duplication of elements".
# Seen: `popBack()` makes the list's `length` smaller while its items stay, and a backward iteration finds the removed items.
# With a duplicate in the middle alone, or in a Vector, all is well.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund js-sdsl@4.4.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Deque, LinkList, Vector } from 'js-sdsl';

const join = (items) => [...items].join();

function backward(list) {
  const items = [];
  for (let place = list.rBegin(); !place.equals(list.rEnd()); place.next()) items.push(place.pointer);
  return items.join();
}

/** A list before and after one `popBack()`; `unique()` comes first. */
function popped(List, names) {
  const list = new List(names);
  list.unique();
  const before = { forward: join(list), backward: backward(list) };
  const item = list.popBack();
  return { ...before, popped: item, left: join(list), length: list.length };
}

const rows = {
  Vector: popped(Vector, ['Ann', 'Bob', 'Bob']),
  Deque: popped(Deque, ['Ann', 'Bob', 'Bob']),
  'LinkList, in the middle': popped(LinkList, ['Ann', 'Ann', 'Bob']),
  LinkList: popped(LinkList, ['Ann', 'Bob', 'Bob']),
};
console.table(rows);
const right = JSON.stringify({ forward: 'Ann,Bob', backward: 'Bob,Ann', popped: 'Bob', left: 'Ann', length: 1 });
const wrong = JSON.stringify({ forward: 'Ann,Bob', backward: 'Bob,Bob,Ann', popped: 'Bob', left: 'Ann,Bob', length: 1 });
const isSeen =
  ['Vector', 'Deque', 'LinkList, in the middle'].every((name) => JSON.stringify(rows[name]) === right) &&
  JSON.stringify(rows.LinkList) === wrong;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
