#!/usr/bin/env bash
# @gamestdio/websocket 0.3.2: the wait before a reconnect doubles for the life of a client, however often it has connected.
# Expected: a back-off grows with failed dials, and begins anew after a successful one.
# Seen: no dial has failed, and the tenth reconnect waits up to 1024 times its `initialDelay`, which is 100 ms by default.
# So a client that loses its connection once a day may be away for more than a day after three weeks.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @gamestdio/websocket@0.3.2 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
globalThis.WebSocket = WebSocket;
const { default: gamestdio } = await import('@gamestdio/websocket');
// The library waits for a random part of its back-off: here, for half of it.
Math.random = () => 0.5;
const waits = [];
const setRealTimeout = globalThis.setTimeout;
globalThis.setTimeout = (callback, ms, ...rest) => {
  if (ms < 10_000) waits.push(ms);
  return setRealTimeout(callback, ms, ...rest);
};
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => socket.close(1012));
const client = new gamestdio.default(`ws://127.0.0.1:${server.address().port}`, [], { initialDelay: 2 });
let opened = 0;
await new Promise((resolve) => {
  client.onopen = () => ++opened > 10 && resolve();
});
console.log('connections that succeeded:', opened);
console.log('ms before each reconnect:', waits.join(', '));
const isSeen = waits.join() === '2,4,8,16,32,64,128,256,512,1024';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
