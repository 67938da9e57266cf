#!/usr/bin/env bash
# @solid-primitives/websocket 1.3.2: with `makeHeartbeatWS()`, a message that the server does not answer makes a healthy client reconnect.
# Expected: the option `wait` is the time for an answer to the heartbeat. Any other message needs no answer.
# Seen: each `send()` starts that time, and stops the heartbeat. After 1.5 s the client closes its connection and dials.
# So a client that reports to a silent server is never connected for long. As long as it sends nothing, it stays connected.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @solid-primitives/websocket@1.3.2 solid-js@1.9.20 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { makeHeartbeatWS, makeReconnectingWS } from '@solid-primitives/websocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 30_000).unref();
globalThis.WebSocket = WebSocket;
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
let [connections, pings] = [0, 0];
server.on('connection', (socket) => {
  connections += 1;
  socket.on('message', (text) => {
    if (`${text}` !== 'ping') return;
    pings += 1;
    socket.send('pong');
  });
});

const options = { interval: 500, wait: 4_000 };
const client = makeHeartbeatWS(makeReconnectingWS(`ws://127.0.0.1:${server.address().port}`), options);
await delay(6_000);
const before = { connections, answeredPings: pings > 3 };
[connections, pings] = [0, 0];
client.send('a report');
await delay(6_000);
console.log('connections before a message:', before);
console.log('new connections after it:', connections);
const isSeen = before.connections === 1 && before.answeredPings && connections === 1;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
