#!/usr/bin/env bash
# websocket-express 4.0.1: of two messages that arrive together, `nextMessage()` loses the second.
# Expected: two calls of `await socket.nextMessage()` in a row return the two messages of a client.
# Seen: the second message is emitted before the caller of the first one goes on, so no listener hears it, and the second call times out.
# With a pause between the messages, each call returns one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund websocket-express@4.0.1 express@5.3.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocketExpress } from 'websocket-express';
import { WebSocket } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const app = new WebSocketExpress();
let finish;
app.ws('/login', async (_, response) => {
  const socket = await response.accept();
  const next = () => socket.nextMessage({ timeout: 3000 });
  const messages = [];
  socket.send('welcome');
  for (let i = 0; i < 2; i += 1) messages.push(await next().then(({ data }) => String(data), ({ message }) => message));
  finish(messages);
});
const server = app.createServer().listen(0, '127.0.0.1');
await once(server, 'listening');

/** What the route reads of a client that sends two messages. */
async function readOf(send) {
  const messages = new Promise((resolve) => (finish = resolve));
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}/login`);
  await once(client, 'message');
  await send(client);
  return (await messages).join(', ');
}
const apart = await readOf(async (client) => {
  client.send('Ann');
  await delay(500);
  client.send('secret');
});
const together = await readOf((client) => {
  client._socket.cork();
  client.send('Ann');
  client.send('secret');
  client._socket.uncork();
});
console.log('with a pause:', apart);
console.log('together:', together);
const isSeen = apart === 'Ann, secret' && together === 'Ann, Timed out waiting for message';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
