#!/usr/bin/env bash
# ws-wrapper 3.0.3: an error that a listener throws vanishes, and the listeners after it are not called.
# Expected: the README says that "this Error will propagate up the stack as expected".
# Seen: the wrapper catches it together with messages that are no JSON. Nothing is thrown, logged or emitted as `error`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ws-wrapper@3.0.3 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import WebSocketWrapper from 'ws-wrapper';

setTimeout(() => process.exit(1), 20_000).unref();
const seen = [];
process.on('uncaughtException', ({ message }) => seen.push(`uncaught: ${message}`));
process.on('unhandledRejection', ({ message }) => seen.push(`unhandled: ${message}`));
console.error = (...values) => seen.push(`logged: ${values.join(' ')}`);
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => {
  const wrapper = new WebSocketWrapper(socket);
  wrapper.on('error', () => seen.push('error'));
  wrapper.on('order', () => {
    seen.push('the first listener');
    throw new TypeError('a bug');
  });
  wrapper.on('order', () => seen.push('the second listener'));
  wrapper.on('goodbye', () => seen.push('goodbye'));
});
const client = new WebSocketWrapper(new WebSocket(`ws://127.0.0.1:${server.address().port}`));
client.emit('order', 'tea');
client.emit('goodbye');
while (!seen.includes('goodbye')) await delay(10);
await delay(200);
console.log(seen);
const isSeen = seen.join() === 'the first listener,goodbye';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
