#!/usr/bin/env bash
# length-prefixed-stream 2.0.0 and frame-stream 4.0.1: a `for await` loop gets several messages as one.
# Expected: the READMEs promise that buffers "arrive unpartioned" and that the decoder "returns each frame on its own".
# Seen: the decoders are byte streams, so a loop reads all messages that are there as one Buffer. A listener of `data` gets them one by one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund length-prefixed-stream@2.0.0 frame-stream@4.0.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import frameStream from 'frame-stream';
import lengthPrefixedStream from 'length-prefixed-stream';

setTimeout(() => process.exit(1), 20_000).unref();
const names = ['Ann', 'Bob', 'Charlie'];

/** A decoder that has received the names. */
function received({ encode, decode }) {
  const [encoder, decoder] = [encode(), decode()];
  encoder.pipe(decoder);
  for (const name of names) encoder.write(name);
  encoder.end();
  return decoder;
}
let isSeen = true;
for (const [name, codec] of Object.entries({ 'length-prefixed-stream': lengthPrefixedStream, 'frame-stream': frameStream })) {
  const heard = [];
  const listened = received(codec).on('data', (message) => heard.push(String(message)));
  await once(listened, 'end');
  const looped = [];
  for await (const message of received(codec)) looped.push(String(message));
  console.log(`${name}, a listener:`, heard);
  console.log(`${name}, a loop:`, looped);
  isSeen &&= heard.join() === names.join() && looped.length < names.length && looped.join('') === names.join('');
}
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
