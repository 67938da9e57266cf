#!/usr/bin/env bash
# @rails/actioncable 8.1.400: after a lost connection, one subscription is called with `reconnected: true`, and all others with `false`.
# Expected: `connected({ reconnected })` tells each subscription whether it may have missed messages.
# Seen: the first confirmation of the server resets the flag for the whole connection. Which subscription that is depends on the server.
# So a page that loads what it has missed does so for one of its channels.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @rails/actioncable@8.1.400 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { adapters, ConnectionMonitor, createConsumer } from '@rails/actioncable';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
globalThis.addEventListener = () => {};
adapters.WebSocket = WebSocket;
// Seconds of silence before the client reconnects. The default is 6.
ConnectionMonitor.staleThreshold = 2;
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'actioncable-v1-json' });
await once(server, 'listening');
server.on('connection', (socket) => {
  socket.send(JSON.stringify({ type: 'welcome' }));
  socket.on('message', (text) => {
    const { identifier } = JSON.parse(text);
    socket.send(JSON.stringify({ identifier, type: 'confirm_subscription' }));
  });
});

let calls = [];
const consumer = createConsumer(`ws://127.0.0.1:${server.address().port}`);
for (const channel of ['Prices', 'News', 'Chat']) {
  consumer.subscriptions.create(channel, {
    connected: ({ reconnected }) => calls.push(`${channel}: ${reconnected}`),
  });
}
while (calls.length < 3) await delay(10);
const first = calls;
calls = [];
for (const socket of server.clients) socket.close(1012);
while (calls.length < 3) await delay(10);
console.log('reconnected, at the first connection:', first);
console.log('reconnected, at the second connection:', calls);
const isSeen =
  first.join() === 'Prices: false,News: false,Chat: false' && calls.join() === 'Prices: true,News: false,Chat: false';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
