#!/usr/bin/env bash
# websocket-ts 2.3.0: a listener never runs if another listener of the same event has added it.
# Expected: it runs from the next event on, as with the WebSocket that the client wraps.
# Seen: after each event the client restores the listeners that it had before. A listener that removes itself therefore runs again.
# So a client that waits for its login before it listens for data gets no data.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund websocket-ts@2.3.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Websocket } from 'websocket-ts';
import { WebSocket, WebSocketServer } from 'ws';

globalThis.WebSocket = WebSocket;
setTimeout(() => process.exit(1), 20_000).unref();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => {
  for (const text of ['welcome', 'price 1', 'price 2']) socket.send(text);
});

/** What the listeners of a client hear if the one for the login adds the one for the data, and removes itself. */
async function heard(Client, textOf) {
  const client = new Client(`ws://127.0.0.1:${server.address().port}`);
  const events = [];
  const onData = (...received) => events.push(`data: ${textOf(received)}`);
  const onLogin = (...received) => {
    events.push(`login: ${textOf(received)}`);
    client.addEventListener('message', onData);
    client.removeEventListener('message', onLogin);
  };
  client.addEventListener('message', onLogin);
  while (events.length < 3) await delay(10);
  await delay(100);
  client.close();
  return events;
}

const ofWs = await heard(WebSocket, ([event]) => event.data);
const ofWebsocketTs = await heard(Websocket, ([, event]) => event.data);
console.log('ws:', ofWs);
console.log('websocket-ts:', ofWebsocketTs);
const isSeen =
  ofWs.join() === 'login: welcome,data: price 1,data: price 2' && ofWebsocketTs.join() === 'login: welcome,login: price 1,login: price 2';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
