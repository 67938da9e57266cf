#!/usr/bin/env bash
# stomp-broker-js 1.3.0, @stomp/stompjs 7.5.0: a subscriber of `/price.eur` gets the messages that are sent to `/price`.
# Expected: only a subscriber of `/price` does. The README says that a dot separates the names in a path, and that `*` matches any name.
# Seen: the broker compares as many names as the destination has, and ignores the rest of the subscription. So `/price.eur.london` and `/price.*` get them too.
# A message to `/price.eur` does not reach `/price`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund stomp-broker-js@1.3.0 @stomp/stompjs@7.5.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import http from 'node:http';
import { Client } from '@stomp/stompjs';
import Broker from 'stomp-broker-js';
import { WebSocket } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const server = http.createServer();
const broker = new Broker({ server });
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const client = new Client({ webSocketFactory: () => new WebSocket(`ws://127.0.0.1:${server.address().port}/stomp`) });
await new Promise((resolve) => {
  client.onConnect = resolve;
  client.activate();
});

const topics = ['/price', '/price.eur', '/price.eur.london', '/price.*', '/stock', '/end'];
const got = Object.fromEntries(topics.map((topic) => [topic, []]));
let isOver;
const over = new Promise((resolve) => {
  isOver = resolve;
});
for (const topic of topics) {
  const subscribed = once(broker, 'subscribe');
  client.subscribe(topic, ({ body }) => (topic === '/end' ? isOver() : got[topic].push(body)));
  await subscribed;
}
for (const destination of ['/price', '/price.eur', '/end']) broker.send(destination, { destination }, `to ${destination}`);
await over;
for (const topic of topics.slice(0, -1)) console.log(`a subscriber of ${topic} gets: ${got[topic].join(', ') || 'nothing'}`);
const both = 'to /price,to /price.eur';
const isSeen =
  topics
    .slice(0, -1)
    .map((topic) => got[topic].join())
    .join(' | ') === `to /price | ${both} | ${both} | ${both} | `;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
