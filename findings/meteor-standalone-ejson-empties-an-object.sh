#!/usr/bin/env bash
# meteor-standalone-ejson 1.0.84: an object with a key `length` that holds a number is written as an object without keys.
# Expected: the object. The README says that EJSON supports "all JSON-safe types".
# Seen: `stringify()` writes { length: 3, unit: 'm' } as {}, and `clone()` returns an object with the keys 0, 1 and 2.
# ejson, another package for the same format, keeps it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund meteor-standalone-ejson@1.0.84 ejson@2.2.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import ejson from 'ejson';
import standalone from 'meteor-standalone-ejson';

const sent = { title: 'rope', size: { length: 3, unit: 'm' } };
const [own, other] = [standalone.stringify(sent), ejson.stringify(sent)];
const keys = Object.keys(standalone.clone(sent).size);
console.log('JSON:', JSON.stringify(sent));
console.log('written:', own);
console.log('keys of its clone():', keys);
console.log('written by ejson:', other);
const isSeen = own === '{"title":"rope","size":{}}' && keys.join() === '0,1,2' && other === JSON.stringify(sent);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
