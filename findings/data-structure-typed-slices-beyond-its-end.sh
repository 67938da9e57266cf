#!/usr/bin/env bash
# data-structure-typed 2.6.2: `slice(0, 10)` of a list with three items has a length of ten.
# Expected: three items, as with an array. The README promises "a unified Array-like API across all structures".
# Seen: a linked list and a Queue fill the slice with `undefined`. A Deque's slice iterates over three items, but its `pop()` returns `undefined` seven times first.
# Without an end, and with one within the list, the slice is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund data-structure-typed@2.6.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Deque, DoublyLinkedList, Queue, SinglyLinkedList } from 'data-structure-typed';

const names = ['Ann', 'Bob', 'Charlie'];
const rows = { Array: names };
for (const List of [Queue, SinglyLinkedList, DoublyLinkedList, Deque]) rows[List.name] = new List(names);
const isShort = Object.values(rows).every((list) => list.slice(1).length === 2 && list.slice(0, 2).length === 2);
for (const [name, list] of Object.entries(rows)) {
  const slice = list.slice(0, 10);
  rows[name] = { length: slice.length, items: [...slice].map(String).join(), pop: slice.pop?.() };
}
console.log('slice(1) and slice(0, 2) have two items each:', isShort);
console.log('slice(0, 10):', rows);
const [array, queue, single, double, deque] = Object.values(rows);
const isLong = (row) => row.length === 10 && row.items === [...names, ...Array(7).fill('undefined')].join();
const isSeen =
  isShort &&
  array.length === 3 &&
  [queue, single, double].every(isLong) &&
  deque.length === 10 &&
  deque.items === names.join() &&
  array.pop === 'Charlie' &&
  deque.pop === undefined;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
