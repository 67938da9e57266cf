#!/usr/bin/env bash
# reconnecting-websocket 4.4.0: after a `close()` in the turn of its construction, `reconnect()` does nothing, for good.
# Expected: the socket reports `close`, its `readyState` is CLOSED (3), and `reconnect()` dials, as it does for an open socket.
# Seen: no event comes and `readyState` stays CONNECTING (0). The abandoned dial never releases the lock that `reconnect()` needs.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund reconnecting-websocket@4.4.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import ReconnectingWebSocket from 'reconnecting-websocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
const dials = { early: 0, late: 0 };
server.on('connection', (_, { url }) => (dials[url.slice(1)] += 1));

function dial(name) {
  const options = { WebSocket, minReconnectionDelay: 10, maxReconnectionDelay: 10 };
  return new ReconnectingWebSocket(`ws://127.0.0.1:${server.address().port}/${name}`, [], options);
}
function next(socket, type) {
  return new Promise((resolve) => socket.addEventListener(type, resolve, { once: true }));
}

const events = [];
const early = dial('early');
for (const type of ['open', 'error', 'close']) early.addEventListener(type, () => events.push(type));
early.close();

const late = dial('late');
await next(late, 'open');
late.close();
const afterClose = early.readyState;
early.reconnect();
// Three further dials of the other socket are the measure of "long enough".
for (let round = 0; round < 3; round += 1) {
  const opened = next(late, 'open');
  late.reconnect();
  await opened;
}
console.log(`closed at once: dials ${dials.early}, events ${events.length}, readyState ${afterClose}, later ${early.readyState}`);
console.log(`closed when open: dials ${dials.late}, readyState ${late.readyState}`);
const isSeen = dials.early === 0 && events.length === 0 && afterClose === 0 && early.readyState === 0 && dials.late === 4;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
