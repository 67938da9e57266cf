#!/usr/bin/env bash
# amp-message 0.1.2: a Buffer whose first two bytes are "s:" is read as a text without them.
# Expected: the Buffer. The README pushes texts, objects and Buffers, and reads each as what it was.
# Seen: texts are written with a prefix "s:", Buffers without any, so the reader cannot tell them apart.
# The text "s:Ann" itself comes back as it was.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund amp-message@0.1.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import Message from 'amp-message';

const read = (value) => new Message(new Message([value]).toBuffer()).shift();
const sent = ['Ann', 's:Ann', { name: 'Ann' }, Buffer.from('Ann'), Buffer.from('S:Ann'), Buffer.from('s:Ann')];
const seen = sent.map(read);
for (const [i, value] of seen.entries()) console.log(sent[i], 'is read as', value);
const name = (value) => (Buffer.isBuffer(value) ? `bytes ${value}` : JSON.stringify(value));
const isSeen = seen.map(name).join('; ') === '"Ann"; "s:Ann"; {"name":"Ann"}; bytes Ann; bytes S:Ann; "Ann"';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
