#!/usr/bin/env bash
# mock-socket 9.3.1: `send()` keeps the caller's buffer, and the server reads what it holds later.
# Expected: bytes are taken at `send()`, as by a WebSocket, so one buffer can be filled again for the next message.
# Seen: three messages of one buffer arrive as three times the last one. Code that is right fails in its test.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mock-socket@9.3.1 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { Server, WebSocket as MockSocket } from 'mock-socket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();

/** Sends 1, 2 and 3 by one buffer. Returns what arrives. */
function sent(socket, messages) {
  const received = [];
  const all = new Promise((resolve) => {
    messages((data) => {
      if (received.push(new Uint8Array(data)[0]) === 3) resolve(received);
    });
  });
  socket.addEventListener('open', () => {
    const buffer = new Uint8Array(1);
    for (const n of [1, 2, 3]) {
      buffer[0] = n;
      socket.send(buffer);
    }
  });
  return all;
}

const real = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(real, 'listening');
const overWs = await sent(new WebSocket(`ws://127.0.0.1:${real.address().port}`), (next) =>
  real.on('connection', (socket) => socket.on('message', next)),
);
const mock = new Server('ws://mocked/');
const overMock = await sent(new MockSocket('ws://mocked/'), (next) => mock.on('connection', (socket) => socket.on('message', next)));
console.log('ws:', overWs);
console.log('mock-socket:', overMock);
const isSeen = overWs.join() === '1,2,3' && overMock.join() === '3,3,3';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
