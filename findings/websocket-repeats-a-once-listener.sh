#!/usr/bin/env bash
# websocket 1.0.35: a listener that `W3CWebSocket` was given with `once: true` runs for each message.
# Expected: it runs for the first message, as in browsers, in Node and with ws. The README calls the class the "W3C WebSocket API".
# Seen: the options are ignored, so a listener that waits for the answer to a login takes each later message for that answer.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund websocket@1.0.35 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import websocket from 'websocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => ['welcome', 'first', 'second'].forEach((text) => socket.send(text)));

/** What a listener with `once: true` has received when the last message is there. */
function heardOnce(Socket) {
  const heard = [];
  const socket = new Socket(`ws://127.0.0.1:${server.address().port}/`);
  socket.addEventListener('message', ({ data }) => heard.push(data), { once: true });
  return new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      if (data === 'second') resolve(heard.join(', '));
    });
  });
}

const ofWs = await heardOnce(WebSocket);
const ofWebsocket = await heardOnce(websocket.w3cwebsocket);
console.log('ws:', ofWs);
console.log('websocket:', ofWebsocket);
const isSeen = ofWs === 'welcome' && ofWebsocket === 'welcome, first, second';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
