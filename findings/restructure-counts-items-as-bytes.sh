#!/usr/bin/env bash
# restructure 3.0.2: an array whose length is in bytes is written with the number of its items as length.
# Expected: `fromBuffer(toBuffer(list))` equals the list. With 'bytes', the README says, a length is treated "as amount of bytes".
# Seen: `toBuffer()` writes 4 for four items of two bytes, and `fromBuffer()` takes the 4 for bytes. It returns two items, and the fields behind them are wrong.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund restructure@3.0.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import * as r from 'restructure';

const Message = new r.Struct({ list: new r.Array(r.uint16be, r.uint8, 'bytes'), kind: r.uint8 });
const hex = (bytes) => Buffer.from(bytes).toString('hex');
const show = ({ list, kind }) => JSON.stringify({ list, kind });
const sent = { list: [1, 2, 3, 4], kind: 9 };
const right = show(Message.fromBuffer(Buffer.from('08000100020003000409', 'hex')));
const written = Message.toBuffer(sent);
const read = show(Message.fromBuffer(written));
console.log('08000100020003000409 is read as', right);
console.log(show(sent), 'is written as', hex(written), 'and read as', read);
const isSeen = right === show(sent) && hex(written) === '04000100020003000409' && read === '{"list":[1,2],"kind":0}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
