#!/usr/bin/env bash
# wampy 8.0.2: of two listeners that subscribe to one topic at the same time, the first never hears an event.
# Expected: both hear each event, as they do if the second waits for the first.
# Seen: the client asks the router twice. Its second answer has the id of the first, as WAMP says, and replaces the first listener.
# Both promises of `subscribe()` resolve.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund wampy@8.0.2 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Wampy } from 'wampy';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const router = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'wamp.2.json' });
await once(router, 'listening');
const ids = new Map([
  ['tea', 1],
  ['milk', 2],
]);
router.on('connection', (socket) => {
  const send = (...message) => socket.send(JSON.stringify(message));
  socket.on('message', (text) => {
    const [type, request, , topic, payload] = JSON.parse(text);
    if (type === 1) send(2, 1, { roles: { broker: { features: {} } } });
    if (type === 32) send(33, request, ids.get(topic));
    if (type === 16) {
      for (const other of router.clients) if (other !== socket) other.send(JSON.stringify([36, ids.get(topic), 1, {}, payload]));
      send(17, request, 1);
    }
  });
});

/** A client that has joined the router. */
async function join() {
  const client = new Wampy(`ws://127.0.0.1:${router.address().port}`, { realm: 'shop', ws: WebSocket });
  await client.connect();
  return client;
}

const [page, shop] = [await join(), await join()];
const heard = [];
const subscribe = (topic, name) => page.subscribe(topic, ({ argsList }) => heard.push(`${topic} ${argsList} to ${name}`));
await subscribe('tea', 'Ann');
await subscribe('tea', 'Bob');
await Promise.all([subscribe('milk', 'Ann'), subscribe('milk', 'Bob')]);
for (const topic of ['tea', 'milk']) await shop.publish(topic, 42);
await delay(500);
console.log(heard);
const isSeen = heard.join() === 'tea 42 to Ann,tea 42 to Bob,milk 42 to Bob';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
