#!/usr/bin/env bash
# koa-websocket 7.0.0, koa 3.3.0: an error of a WebSocket middleware is neither emitted nor logged, and the socket stays open.
# Expected: Koa emits `error` for whatever a middleware throws, and logs it if nobody listens. The README says nothing else.
# Seen: the error ends in a line of the `debug` package, which is off by default. The client waits for a server that has failed.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund koa-websocket@7.0.0 koa@3.3.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import Koa from 'koa';
import websockify from 'koa-websocket';
import { WebSocket } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const app = websockify(new Koa());
const emitted = [];
app.on('error', ({ message }) => emitted.push(message));
app.use(async () => {
  throw new Error('of HTTP');
});
let isReached = false;
app.ws.use(async () => {
  isReached = true;
  throw new Error('of the WebSocket');
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

const address = `127.0.0.1:${server.address().port}`;
const { status } = await fetch(`http://${address}`);
const socket = new WebSocket(`ws://${address}`);
await once(socket, 'open');
await delay(1_000);
const isOpen = socket.readyState === WebSocket.OPEN;
console.log('errors emitted by the app:', emitted);
console.log('the answer over HTTP:', status);
console.log('the WebSocket is open:', isOpen);
const isSeen = emitted.join() === 'of HTTP' && status === 500 && isReached && isOpen;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
