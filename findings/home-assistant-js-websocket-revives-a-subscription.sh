#!/usr/bin/env bash
# home-assistant-js-websocket 9.7.0: a subscription that ends while the connection is lost comes back with the next connection.
# Expected: once the promise of its unsubscribe function has resolved, a listener hears no more.
# Seen: the function resolves, the client subscribes anew after the reconnect, and the listener is called. A second call of the function ends it.
# So a view that closes during an outage goes on hearing. While connected, one call is enough.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund home-assistant-js-websocket@9.7.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createConnection, createLongLivedTokenAuth } from 'home-assistant-js-websocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
globalThis.WebSocket = WebSocket;
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => {
  const send = (message) => socket.send(JSON.stringify(message));
  send({ type: 'auth_required', ha_version: '2026.1.0' });
  socket.on('message', (text) => {
    const { id, type, event_type: name } = JSON.parse(text);
    if (type === 'auth') send({ type: 'auth_ok', ha_version: '2026.1.0' });
    else send({ id, type: 'result', success: true, result: null });
    if (type === 'subscribe_events') send({ id, type: 'event', event: name });
  });
});

const auth = createLongLivedTokenAuth(`http://127.0.0.1:${server.address().port}`, 'token');
const connection = await createConnection({ auth });
const heard = [];
const subscribe = (name) => connection.subscribeEvents((event) => heard.push(event), name);
const [kept, early, late] = [await subscribe('kept'), await subscribe('early'), await subscribe('late')];
while (heard.length < 3) await delay(10);
await early();
const lost = new Promise((resolve) => {
  connection.addEventListener('disconnected', resolve);
});
for (const socket of server.clients) socket.close(1012);
await lost;
await late();
const before = heard.splice(0);
while (!heard.includes('kept')) await delay(10);
await delay(500);
console.log('heard at the first connection:', before.join(', '));
console.log('heard at the second connection:', heard.join(', '));
const isSeen = typeof kept === 'function' && before.join() === 'kept,early,late' && heard.sort().join() === 'kept,late';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
