#!/usr/bin/env bash
# yjs 13.6.33: a `Y.Map` accepts a Date, and every other document reads an empty object.
# Expected: a Date, or an error, as the README lists no Date among the values and a `Y.Array` refuses one.
# Seen: the writer reads its Date back, so its own tests pass. Its peers, and the writer after a reload, get `{}`.
# A BigInt, which the README does not list either, arrives as it was.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund yjs@13.6.33 >/dev/null
cat >program.mjs <<'PROGRAM'
import * as Y from 'yjs';

const [writer, reader] = [new Y.Doc(), new Y.Doc()];
const due = new Date('2030-01-01T00:00:00Z');
writer.getMap('task').set('due', due);
writer.getMap('task').set('size', 5n);
Y.applyUpdate(reader, Y.encodeStateAsUpdate(writer));
const written = writer.getMap('task').toJSON();
const read = reader.getMap('task').toJSON();
let refusal = 'none';
try {
  writer.getArray('dates').push([due]);
} catch (error) {
  refusal = error.message;
}
console.log('the writer reads:', written);
console.log('another document reads:', read);
console.log('the error of a Y.Array:', refusal);
const isSeen =
  written.due instanceof Date && !(read.due instanceof Date) && Object.keys(read.due).length === 0 && read.size === 5n && /content type/.test(refusal);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
