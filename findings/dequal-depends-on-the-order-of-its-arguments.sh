#!/usr/bin/env bash
# dequal 2.0.3: whether two Sets or two Maps are equal depends on which of them comes first.
# Expected: one answer in both orders. The README says that the function compares all types, Sets and Maps among them.
# Seen: it searches the second Set for each item of the first one, so that one item may be found twice, and others never.
# In a Map, a key that holds `undefined` is equal to a missing key, so a Map with another key is equal. For objects it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund dequal@2.0.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { isDeepStrictEqual } from 'node:util';
import { dequal } from 'dequal';

const ann = () => ({ name: 'Ann' });
const bob = () => ({ name: 'Bob' });
const pairs = {
  'two Sets': [new Set([ann(), ann()]), new Set([ann(), bob()])],
  'two Maps': [new Map([['id', 7], ['name', undefined]]), new Map([['id', 7], ['nick', 'Ann']])],
  'two objects': [{ id: 7, name: undefined }, { id: 7, nick: 'Ann' }],
};
const rows = {};
for (const [title, [one, other]] of Object.entries(pairs))
  rows[title] = { 'one, other': dequal(one, other), 'other, one': dequal(other, one), node: isDeepStrictEqual(one, other) };
console.table(rows);
const answers = (title) => Object.values(rows[title]).join();
const isSeen =
  answers('two Sets') === 'true,false,false' && answers('two Maps') === 'true,false,false' && answers('two objects') === 'false,false,false';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
