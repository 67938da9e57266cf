#!/usr/bin/env bash
# u8-mqtt 0.6.7 at aedes 1.2.0: a handler of `$SYS/…` is never called, and a handler of `Room/lamp` is called for `room/lamp` too.
# Expected: `subscribe_topic()` calls a handler for the messages that its topic matches. MQTT topics are case-sensitive.
# Seen: the client makes a regular expression of the topic and leaves `$` and `.` as they are, with the flag `i`.
# The broker sends what was subscribed to, as mqtt 5.16.0 shows.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund u8-mqtt@0.6.7 aedes@1.2.0 mqtt@5.16.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Aedes } from 'aedes';
import mqtt from 'mqtt';
import { mqtt_v4 } from 'u8-mqtt/esm/node/v4.mjs';

setTimeout(() => process.exit(1), 20_000).unref();
console.info = () => {};
const broker = await Aedes.createBroker();
const server = createServer(broker.handle).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const topics = ['$SYS/lamps', 'Room/lamp', 'room/lamp', 'lamp/v1.2', 'lamp/v1_2'];

const client = mqtt.connect(`mqtt://127.0.0.1:${port}`);
const ofMqtt = [];
client.on('message', (topic) => ofMqtt.push(topic));
await client.subscribeAsync(topics);

const u8Client = mqtt_v4().with_tcp(port, '127.0.0.1');
await u8Client.connect();
const ofU8Mqtt = [];
for (const topic of topics) u8Client.subscribe_topic(topic, (packet) => ofU8Mqtt.push([topic, packet.topic]));
await u8Client.subs_settled();

for (const topic of topics) broker.publish({ topic, payload: 'on', qos: 0 });
while (ofMqtt.length < topics.length) await delay(10);
await delay(1_000);
console.log('messages of mqtt:', ofMqtt);
console.log('handlers that u8-mqtt calls:');
for (const [handler, topic] of ofU8Mqtt) console.log(`  the one of ${handler} with ${topic}`);
const isSeen =
  ofMqtt.sort().join() === topics.sort().join() &&
  ofU8Mqtt.sort().join(' ') ===
    'Room/lamp,Room/lamp Room/lamp,room/lamp lamp/v1.2,lamp/v1.2 lamp/v1.2,lamp/v1_2 lamp/v1_2,lamp/v1_2 room/lamp,Room/lamp room/lamp,room/lamp';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
