#!/usr/bin/env bash
# faye 1.4.3: a subscription that is cancelled before its client has connected receives messages all the same.
# Expected: `cancel()` ends a subscription whenever it is called.
# Seen: the client subscribes after its handshake, calls the listener for each message, and a second `cancel()` does nothing.
# So a component that is unmounted at once goes on hearing. After the handshake, `cancel()` works.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund faye@1.4.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import faye from 'faye';

setTimeout(() => process.exit(1), 20_000).unref();
const server = createServer();
new faye.NodeAdapter({ mount: '/faye' }).attach(server);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const client = new faye.Client(`http://127.0.0.1:${server.address().port}/faye`);
const heard = [];
const listen = (name) => client.subscribe('/prices', (price) => heard.push(`${name}: ${price}`));

const early = listen('cancelled before the handshake');
early.cancel();
const late = listen('cancelled after the handshake');
await late;
late.cancel();
early.cancel();
await new Promise((resolve) => {
  client.subscribe('/prices', (price) => {
    heard.push(`not cancelled: ${price}`);
    if (price === 2) resolve();
  });
  client.publish('/prices', 1);
  client.publish('/prices', 2);
});
console.log(heard);
const isSeen =
  heard.sort().join() ===
  'cancelled before the handshake: 1,cancelled before the handshake: 2,not cancelled: 1,not cancelled: 2';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
