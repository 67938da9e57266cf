#!/usr/bin/env bash
# @automerge/automerge 3.5.0, loro-crdt 1.17.1: each whole number from 2^63 on becomes the BigInt 9223372036854775807.
# Expected: the number, as in loro-crdt and for 1.5, or an error. The package refuses `undefined` with one.
# Seen: 1e20 and 1e300 become that BigInt, in the writer's document too. From 2^53 - 1 on a number becomes a BigInt, so `JSON.stringify()` of the document throws.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @automerge/automerge@3.5.0 loro-crdt@1.17.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import * as Automerge from '@automerge/automerge';
import { LoroDoc } from 'loro-crdt';

const own = (value) => {
  const writer = Automerge.from({ value });
  return [writer.value, Automerge.load(Automerge.save(writer)).value];
};
const other = (value) => {
  const [writer, reader] = [new LoroDoc(), new LoroDoc()];
  writer.getMap('map').set('value', value);
  writer.commit();
  reader.import(writer.export({ mode: 'snapshot' }));
  return reader.toJSON().map.value;
};
const sent = [1.5, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 1e20, 1e300];
const rows = sent.map((value) => [...own(value), other(value)]);
for (const [i, [writer, reader, right]] of rows.entries()) console.log(sent[i], ': writer', writer, 'reader', reader, 'loro-crdt', right);
let message = '';
try {
  JSON.stringify(Automerge.from({ value: Number.MAX_SAFE_INTEGER }));
} catch (error) {
  message = error.message;
}
console.log('JSON.stringify() of the document:', message);
const isSeen =
  rows.every(([writer, reader, right], i) => writer === reader && right === sent[i]) &&
  rows.map(([writer]) => `${typeof writer} ${writer}`).join() ===
    'number 1.5,number 9007199254740990,bigint 9007199254740991,bigint 9223372036854775807,bigint 9223372036854775807' &&
  message.includes('BigInt');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
