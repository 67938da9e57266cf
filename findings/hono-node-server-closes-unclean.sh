#!/usr/bin/env bash
# @hono/node-server 2.1.9: the event of `onClose` has `wasClean: false` after a complete closing handshake.
# Expected: true for a close that both ends have agreed on, and false for a connection that broke. ws, which carries the connection, reports both right.
# Seen: false for both. So a server that keeps the place of a client whose close was unclean keeps every client's place.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @hono/node-server@2.1.9 hono@4.13.19 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { serve, upgradeWebSocket } from '@hono/node-server';
import { Hono } from 'hono';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const seen = { hono: [], ws: [] };
const describe = ({ code, wasClean }) => `${code} ${wasClean}`;
const app = new Hono();
app.get(
  '/',
  upgradeWebSocket(() => ({ onClose: (event) => seen.hono.push(describe(event)) })),
);
const sockets = new WebSocketServer({ noServer: true });
sockets.on('connection', (socket) => socket.addEventListener('close', (event) => seen.ws.push(describe(event))));
const server = serve({ fetch: app.fetch, websocket: { server: sockets }, hostname: '127.0.0.1', port: 0 });
if (!server.listening) await once(server, 'listening');

for (const leave of [(socket) => socket.close(4001), (socket) => socket.terminate()]) {
  const socket = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  await once(socket, 'open');
  leave(socket);
  await delay(200);
}
console.log('code and wasClean of a close with 4001, and of a lost connection:', seen);
const isSeen = JSON.stringify(seen) === '{"hono":["4001 false","1006 false"],"ws":["4001 true","1006 false"]}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
