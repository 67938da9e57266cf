#!/usr/bin/env bash
# json-stream 1.0.0: a line whose line break arrives in the next chunk is emitted twice.
# Expected: each line once, however its bytes arrive. The README writes one line in two chunks and shows one object.
# Seen: at the end of a chunk the parser emits what is valid JSON so far. It keeps the bytes too, so the next chunk repeats the line.
# A number that is cut in two is emitted as 12 and as 123.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-stream@1.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import JSONStream from 'json-stream';

const read = async (...chunks) => {
  const stream = JSONStream();
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  return JSON.stringify(await stream.toArray());
};
const seen = [
  await read('{"id":1}\n{"id":2}\n'),
  await read('{"id":1}', '\n{"id":2}\n'),
  await read('{"id":1}\n{"id":2}', '\n'),
  await read('12', '3\n'),
];
console.log('two lines in one chunk:', seen[0]);
console.log('a chunk that ends before a line break:', seen[1], 'and', seen[2]);
console.log('the line 123 in two chunks:', seen[3]);
const isSeen =
  seen.join(' ') === '[{"id":1},{"id":2}] [{"id":1},{"id":1},{"id":2}] [{"id":1},{"id":2},{"id":2}] [12,123]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
