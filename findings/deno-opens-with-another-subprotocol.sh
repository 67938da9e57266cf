#!/usr/bin/env bash
# Deno 2.9.6: a WebSocket opens with a subprotocol that it did not offer.
# Expected: the client fails the connection, as RFC 6455 (4.1) says and browsers do: the two ends do not speak the same protocol.
# Seen: `open` with `protocol` set to the server's choice. The client of ws 8.23.0 fails and closes with 1006.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund deno@2.9.6 ws@8.23.0 >/dev/null
cat >server.mjs <<'PROGRAM'
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const server = createServer();
server.on('upgrade', ({ headers }, socket) => {
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
  socket.on('error', () => undefined).write(`${[...lines, 'Sec-WebSocket-Protocol: chat.v2'].join('\r\n')}\r\n\r\n`);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
PROGRAM
cat >client.mjs <<'PROGRAM'
import process from 'node:process';

const Socket = globalThis.Deno === undefined ? (await import('ws')).WebSocket : WebSocket;
const socket = new Socket(`ws://127.0.0.1:${process.argv[2]}`, 'chat.v1');
const print = (text) => {
  console.log(text);
  process.exit(0);
};
socket.onopen = () => print(`open with '${socket.protocol}'`);
socket.onerror = () => undefined;
socket.onclose = ({ code }) => print(`closed with ${code}`);
PROGRAM
node server.mjs >port &
until [ -s port ]; do sleep 0.1; done
port=$(cat port)
deno=$(npx deno run --allow-net client.mjs "$port")
ws=$(node client.mjs "$port")
echo "Deno: $deno"
echo "ws: $ws"
if [ "$deno" = "open with 'chat.v2'" ] && [ "$ws" = 'closed with 1006' ]; then
  echo seen
else
  echo 'the behaviour has changed'
  exit 1
fi
