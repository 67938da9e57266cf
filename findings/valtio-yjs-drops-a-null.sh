#!/usr/bin/env bash
# valtio-yjs 0.7.0, valtio 2.3.2, yjs 13.6.33: a `null` in a new array is dropped, also from the state of its own writer.
# Expected: the array. yjs and valtio both keep `null` in an array, and the README says "you can use arrays too".
# Seen: `state.seats = ['Ann', null, 'Bob']` becomes ['Ann', 'Bob'] in both documents, so Bob sits elsewhere.
# A `null` that is pushed or assigned to an index arrives, and so does one in an object.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund valtio-yjs@0.7.0 valtio@2.3.2 yjs@13.6.33 >/dev/null
cat >program.mjs <<'PROGRAM'
import { proxy } from 'valtio/vanilla';
import { bind } from 'valtio-yjs';
import * as Y from 'yjs';

const [mine, theirs] = [new Y.Doc(), new Y.Doc()];
mine.on('update', (update) => Y.applyUpdate(theirs, update));
const state = proxy({});
const other = proxy({});
bind(state, mine.getMap('hall'));
bind(other, theirs.getMap('hall'));
const settle = () => new Promise((resolve) => setTimeout(resolve, 50));

state.seats = ['Ann', null, 'Bob'];
state.row = ['Ann'];
state.names = { first: null };
await settle();
state.row.push(null, 'Bob');
await settle();
console.log('assigned: ["Ann",null,"Bob"]');
console.log('own state:', JSON.stringify(state));
console.log('other state:', JSON.stringify(other));
const expected = '{"seats":["Ann","Bob"],"row":["Ann",null,"Bob"],"names":{"first":null}}';
const isSeen =
  JSON.stringify(state) === expected && JSON.stringify(theirs.getMap('hall').get('seats')) === '["Ann","Bob"]' && other.seats.length === 2;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
