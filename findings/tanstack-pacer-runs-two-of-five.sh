#!/usr/bin/env bash
# @tanstack/pacer 0.22.0: an AsyncQueuer with `getItemsFrom: 'back'` stops after its second item.
# Expected: all items, the newest one first. "FIFO (First In First Out) or LIFO (Last In First Out) queue behavior", its documentation says.
# The package's own Queuer does so.
# Seen: it takes items from the back and counts the item at the front as active. That item never ends, so its slot stays taken.
# The status stays "running", and the item at the front is listed twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @tanstack/pacer@0.22.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { AsyncQueuer, Queuer } from '@tanstack/pacer';

setTimeout(() => process.exit(1), 20_000).unref();

/** What a queue has processed of five items after two seconds, and its state. */
async function stateOf(Class, getItemsFrom) {
  const done = [];
  async function upload(name) {
    await delay(10);
    done.push(name);
  }
  const queue = new Class(upload, { wait: 20, getItemsFrom });
  for (const name of ['a', 'b', 'c', 'd', 'e']) queue.addItem(name);
  await delay(2000);
  queue.stop();
  return { done: done.join(), left: queue.peekAllItems().join() };
}

const sync = await stateOf(Queuer, 'back');
const fifo = await stateOf(AsyncQueuer, 'front');
const lifo = await stateOf(AsyncQueuer, 'back');
console.log("Queuer, from 'back':", sync);
console.log("AsyncQueuer, from 'front':", fifo);
console.log("AsyncQueuer, from 'back':", lifo);
const isSeen =
  sync.done === 'a,e,d,c,b' && fifo.done === 'a,b,c,d,e' && fifo.left === '' && lifo.done === 'a,e' && lifo.left === 'b,b,c,d';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
