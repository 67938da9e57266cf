#!/usr/bin/env bash
# faye-websocket 0.11.4: `send()` of an ArrayBuffer sends the text "[object ArrayBuffer]".
# Expected: a binary message with the two bytes, as the WebSocket interface that it implements says, or a TypeError.
# Seen: the server receives a text message. A Uint8Array or a Buffer of the same bytes arrives as binary.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund faye-websocket@0.11.4 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import faye from 'faye-websocket';
import { WebSocketServer } from 'ws';

const bytes = Uint8Array.of(104, 105);
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
const seen = [];
await new Promise((resolve) => server.on('listening', resolve));
const done = new Promise((resolve) => {
  server.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => {
      seen.push(`${isBinary ? 'binary' : 'text'} ${isBinary ? data.toString('hex') : data.toString()}`);
      if (seen.length === 2) resolve();
    }),
  );
});
const client = new faye.Client(`ws://127.0.0.1:${server.address().port}/`);
client.on('open', () => {
  client.send(bytes.buffer);
  client.send(Buffer.from(bytes));
});
await done;
console.log('ArrayBuffer:', seen[0]);
console.log('Buffer:', seen[1]);
const isSeen = seen[0] === 'text [object ArrayBuffer]' && seen[1] === 'binary 6869';
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
