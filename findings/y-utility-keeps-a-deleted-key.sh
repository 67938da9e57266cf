#!/usr/bin/env bash
# y-utility 0.1.4, yjs 13.6.33: after two values of one key in one transaction, `delete()` does not delete that key.
# Expected: the key is gone, as after two values in two transactions, and as in a `Y.Map`, in whose place the README puts `YKeyValue`.
# Seen: the array keeps both entries, `delete()` removes the older one, and `get()` still returns the newer value, also in other documents. A second `delete()` removes the key.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund y-utility@0.1.4 yjs@13.6.33 >/dev/null
cat >program.mjs <<'PROGRAM'
import { YKeyValue } from 'y-utility/y-keyvalue';
import * as Y from 'yjs';

const map = (doc) => doc.getMap('seats');
const keyValue = (doc) => new YKeyValue(doc.getArray('seats'));

/** Whether a store and its replica still have a key after each of two calls of `delete()`. */
function outcome(create, isOneTransaction) {
  const [doc, replica] = [new Y.Doc(), new Y.Doc()];
  const [store, copy] = [create(doc), create(replica)];
  doc.on('update', (update) => Y.applyUpdate(replica, update));
  const set = () => {
    store.set('12', 'Ann');
    store.set('12', 'Bob');
  };
  if (isOneTransaction) doc.transact(set);
  else set();
  const values = [store.get('12')];
  for (let i = 0; i < 2; i += 1) {
    store.delete('12');
    values.push(`${store.get('12')}/${copy.get('12')}`);
  }
  return values.join(', ');
}

const seen = [outcome(map, true), outcome(keyValue, false), outcome(keyValue, true)];
console.log('the value at first, and after each delete():');
console.log('Y.Map, one transaction:', seen[0]);
console.log('YKeyValue, two transactions:', seen[1]);
console.log('YKeyValue, one transaction:', seen[2]);
const gone = 'Bob, undefined/undefined, undefined/undefined';
const isSeen = seen.join('; ') === `${gone}; ${gone}; Bob, Bob/Bob, undefined/undefined`;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
