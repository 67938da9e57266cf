#!/usr/bin/env bash
# json-split-stream 2.0.0: in a stream that arrives byte by byte, each letter beyond ASCII brings the text "null" with it.
# Expected: the documents as they were sent. The README calls it "a fast way to split concatenated JSON data into individual chunks".
# Seen: a chunk that holds no whole letter, as a serial port delivers it, adds "null" to the text. The document stays valid JSON.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-split-stream@2.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import JSONSplitStream from 'json-split-stream';

const sent = '{"city":"Orléans"}{"id":2}';
const bytes = Buffer.from(sent);
const read = (chunks) =>
  new Promise((resolve, reject) => {
    const stream = new JSONSplitStream();
    const texts = [];
    stream.on('data', (text) => texts.push(text));
    stream.on('error', reject);
    stream.on('end', () => resolve(texts.join('')));
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
  });
const seen = [await read([bytes]), await read([...bytes].map((byte) => Buffer.from([byte])))];
console.log('sent:', sent);
console.log('read from one chunk:', seen[0]);
console.log('read byte by byte:', seen[1]);
const isSeen = seen[0] === sent && seen[1] === '{"city":"Orlnulléans"}{"id":2}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
