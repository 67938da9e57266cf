#!/usr/bin/env bash
# mqtt-pattern 2.1.1 behind mqtt 5.16.0 and aedes 1.2.0: a topic with an empty level matches the subscription, but not the pattern that it was made of.
# Expected: `exec()` reads the parameters of every message that the broker sends for `clean(pattern)`. In MQTT (4.7.1.3), `+` matches an empty level too.
# Seen: `room//temperature` arrives, and `exec()` returns null. `extract()` reads an empty name from it, and `fill()` itself writes such a topic.
# So a client that chooses its handler by `exec()` drops the message.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mqtt-pattern@2.1.1 mqtt@5.16.0 aedes@1.2.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Aedes } from 'aedes';
import mqtt from 'mqtt';
import { clean, exec, extract, fill } from 'mqtt-pattern';

setTimeout(() => process.exit(1), 20_000).unref();
const broker = await Aedes.createBroker();
const server = createServer(broker.handle).listen(0, '127.0.0.1');
await once(server, 'listening');
const client = mqtt.connect(`mqtt://127.0.0.1:${server.address().port}`);
await once(client, 'connect');

const pattern = 'room/+name/temperature';
await client.subscribeAsync(clean(pattern));
const seen = [];
for (const name of ['kitchen', '']) {
  const arrival = once(client, 'message');
  await client.publishAsync(fill(pattern, { name }), '21');
  const [topic] = await arrival;
  seen.push({ topic, exec: exec(pattern, topic), extract: extract(pattern, topic) });
}
console.log('messages of', clean(pattern), seen);
const isSeen =
  JSON.stringify(seen) ===
  JSON.stringify([
    { topic: 'room/kitchen/temperature', exec: { name: 'kitchen' }, extract: { name: 'kitchen' } },
    { topic: 'room//temperature', exec: null, extract: { name: '' } },
  ]);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
