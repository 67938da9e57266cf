#!/usr/bin/env bash
# react-use-websocket 4.13.0, react 19.3.1: a message that waits for its connection is sent to another URL.
# Expected: "messages sent before the WebSocket is open will be queued up and sent on connection", the README says, so on that WebSocket's connection.
# Seen: the queue belongs to the component. Once its URL changes, the next connection gets what was queued for the one before.
# So a text that was written in a chat room without a connection is posted in the room that its writer opens next.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund react-use-websocket@4.13.0 react@19.3.1 react-dom@19.3.1 react-test-renderer@19.3.1 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createElement } from 'react';
import { act, create } from 'react-test-renderer';
import hooks from 'react-use-websocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const { default: useWebSocket } = hooks;
globalThis.WebSocket = WebSocket;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
// The renderer says that it is deprecated.
console.error = () => undefined;

// The first room's server does not answer yet; the second one's does.
const slow = createServer();
const isDialed = new Promise((resolve) => slow.on('upgrade', resolve));
slow.listen(0, '127.0.0.1');
const quick = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await Promise.all([once(slow, 'listening'), once(quick, 'listening')]);
const received = [];
quick.on('connection', (socket, { url }) => socket.on('message', (message) => received.push(`${url}: ${message}`)));

let room;
function Room({ url }) {
  room = useWebSocket(url);
  return null;
}
const roomOf = (server, name) => createElement(Room, { url: `ws://127.0.0.1:${server.address().port}/${name}` });
let root;
await act(async () => {
  root = create(roomOf(slow, 'ann'));
});
await isDialed;
room.sendMessage('A secret for Ann');
await act(async () => root.update(roomOf(quick, 'bob')));
room.sendMessage('Hello, Bob');
while (!received.some((message) => message.endsWith('Bob'))) await act(() => delay(50));
console.log('received:', received);
const isSeen = received.join(', ') === '/bob: A secret for Ann, /bob: Hello, Bob';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
