#!/usr/bin/env bash
# msw 2.15.0: a mocked WebSocket delivers a binary message as its handler has sent it, and ignores the client's `binaryType`.
# Expected: an ArrayBuffer for `arraybuffer` and a Blob for `blob`, as from a server, so that a test runs the page's code unchanged.
# Seen: a handler's Uint8Array arrives as that Uint8Array. So `new DataView(event.data)` works in the page, and throws in its test.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund msw@2.15.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { ws } from 'msw';
import { setupServer } from 'msw/node';
import { WebSocket, WebSocketServer } from 'ws';

globalThis.WebSocket = WebSocket;
setTimeout(() => process.exit(1), 20_000).unref();
const bytes = Uint8Array.of(1, 2);

/** The types of a server's binary message, for both values of `binaryType`. */
async function typesAt(url) {
  const types = [];
  for (const binaryType of ['arraybuffer', 'blob']) {
    const socket = new globalThis.WebSocket(url);
    socket.binaryType = binaryType;
    const { data } = await new Promise((resolve) => (socket.onmessage = resolve));
    types.push(data.constructor.name);
    socket.close();
  }
  return types.join(', ');
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => socket.send(bytes));
const real = await typesAt(`ws://127.0.0.1:${server.address().port}`);
setupServer(ws.link('ws://mocked.example/').addEventListener('connection', ({ client }) => client.send(bytes))).listen();
const mocked = await typesAt('ws://mocked.example/');
console.log('of a server, for arraybuffer and blob:', real);
console.log('of msw, for arraybuffer and blob:', mocked);
const isSeen = real === 'ArrayBuffer, Blob' && mocked === 'Uint8Array, Uint8Array';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
