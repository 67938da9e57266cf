#!/usr/bin/env bash
# charwise 3.0.1: within an array, "Ann Lee" sorts before "Ann", so a range of keys misses it.
# Expected: the order of the values. The README calls the order "compatible with bytewise", and promises to encode arrays.
# Seen: `!` and `"` end an item, and a space sorts before both. An item's own `!` is written as `??`, behind digits and commas.
# The same texts outside an array are in order.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund charwise@3.0.1 bytewise@1.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import bytewise from 'bytewise';
import charwise from 'charwise';

const names = ['Ann', 'Ann Lee', 'Ann!', 'Ann, Bob', 'Ann2', 'Anna'];
const compare = (a, b) => (a < b ? -1 : 1);
const sort = (order) => [...names].sort(order).join(' | ');
const byBytewise = sort((a, b) => Buffer.compare(bytewise.encode(['name', a]), bytewise.encode(['name', b])));
const alone = sort((a, b) => compare(charwise.encode(a), charwise.encode(b)));
const inArray = sort((a, b) => compare(charwise.encode(['name', a]), charwise.encode(['name', b])));
const key = (name) => charwise.encode(['name', name]);
const fromAnn = names.filter((name) => key(name) >= key('Ann') && key(name) < key('Anna'));
console.log('bytewise, in an array:', byBytewise);
console.log('charwise, alone:      ', alone);
console.log('charwise, in an array:', inArray);
console.log('charwise, from ["name", "Ann"] to ["name", "Anna"]:', fromAnn.join(' | '));
const isSeen =
  [byBytewise, alone].every((order) => order === names.join(' | ')) &&
  inArray === 'Ann Lee | Ann | Ann, Bob | Ann2 | Ann! | Anna' &&
  !fromAnn.includes('Ann Lee');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
