#!/usr/bin/env bash
# socket.io-client 4.8.4: a lost connection rejects `timeout(60_000).emitWithAck()` at once, although the client reconnects by itself.
# Expected: the only rejection is the timeout ("the server did not acknowledge the event in the given delay", says its docstring).
# So code that sends a rejected request again waits 60 s between two attempts, and the server has had that time to answer.
# Seen: the promise rejects with "socket has been disconnected" before the client reconnects. Such code repeats at once, offline.
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
// The server receives the request, and its connection is lost before the answer.
new Server(http).on('connection', (socket) => socket.once('ask', () => socket.conn.close()));

const client = io(`http://127.0.0.1:${http.address().port}`, { transports: ['websocket'], reconnectionDelay: 100 });
await new Promise((resolve) => client.once('connect', resolve));
const seen = [];
client.timeout(60_000).emitWithAck('ask').then(
  () => seen.push('answered'),
  (error) => seen.push(`rejected: ${error.message}`),
);
await new Promise((resolve) => client.once('connect', resolve));
seen.push('connected again');
console.log(seen.join(', '));
const isSeen = seen.join() === 'rejected: socket has been disconnected,connected again';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
