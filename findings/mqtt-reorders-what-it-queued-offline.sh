#!/usr/bin/env bash
# mqtt 5.16.0: of two messages that are published to one topic while offline, the broker gets the second one first.
# Expected: the client queues both and sends them in the order of their calls.
# Seen: the client keeps QoS 1 messages in a store and QoS 0 messages in a list. After a reconnect the client empties the store first.
# So "door open" (QoS 0) before "door closed" (QoS 1) leaves the door open for every subscriber. Online, the order holds.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mqtt@5.16.0 aedes@1.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Aedes } from 'aedes';
import mqtt from 'mqtt';

setTimeout(() => process.exit(1), 20_000).unref();
const broker = await Aedes.createBroker();
const server = createServer(broker.handle).listen(0, '127.0.0.1');
await once(server, 'listening');
let received = [];
broker.on('publish', ({ payload }, sender) => {
  if (sender !== null) received.push(String(payload));
});

async function publishBoth() {
  received = [];
  const both = [client.publishAsync('door', 'open', { qos: 0 }), client.publishAsync('door', 'closed', { qos: 1 })];
  await Promise.all(both);
  while (received.length < both.length) await once(broker, 'publish');
  return received.join(', ');
}

const client = mqtt.connect(`mqtt://127.0.0.1:${server.address().port}`, { reconnectPeriod: 50 });
await once(client, 'connect');
const online = await publishBoth();
client.stream.destroy();
await once(client, 'close');
const offline = await publishBoth();
console.log(`published: open, closed; received online: ${online}; received after a reconnect: ${offline}`);
const isSeen = online === 'open, closed' && offline === 'closed, open';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
