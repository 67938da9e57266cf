#!/usr/bin/env bash
# socket.io-client 4.8.4: a volatile event that is sent after the connection was lost is queued, and arrives after the reconnect.
# Expected: it is dropped: volatile events "will not be sent if the underlying connection is not ready".
# Seen: from `disconnect` until the client dials again they are queued, as any other event. Those sent while it dials are dropped.
# So a cursor position of long ago arrives as the newest one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund socket.io@4.8.4 socket.io-client@4.8.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';

setTimeout(() => process.exit(1), 20_000).unref();
const http = createServer().listen(0, '127.0.0.1');
await once(http, 'listening');
const server = new Server(http);
const received = [];
server.on('connection', (socket) => {
  socket.on('at', (position) => received.push(position));
  socket.on('sync', (reply) => reply());
});
const client = io(`http://127.0.0.1:${http.address().port}`, { transports: ['websocket'], reconnectionDelay: 200 });
await once(client, 'connect');

const lost = once(client, 'disconnect');
for (const { conn } of server.sockets.sockets.values()) conn.close(true);
await lost;
client.io.once('reconnect_attempt', () => queueMicrotask(() => client.volatile.emit('at', 'while it dials')));
client.volatile.emit('at', 'after the loss');
const { connected } = client;
await once(client, 'connect');
await client.emitWithAck('sync');
console.log('connected when it was sent:', connected);
console.log('received:', received);
const isSeen = !connected && received.join() === 'after the loss';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
