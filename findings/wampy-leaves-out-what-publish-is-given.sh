#!/usr/bin/env bash
# wampy 8.0.2: `publish()` sends neither a payload of 0 or `false`, nor the options `retain: true` and `exclude_me: false`.
# Expected: the README says that a single value "is packed into one-item array", and lists both options.
# Seen: the message has no payload for the first, and no such option for the others. Its promise resolves.
# A router excludes the publisher by default, so `exclude_me` has no use but `false`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund wampy@8.0.2 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { Wampy } from 'wampy';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const router = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'wamp.2.json' });
await once(router, 'listening');
const received = [];
router.on('connection', (socket) => {
  socket.on('message', (text) => {
    const [type, request, options, topic, ...payload] = JSON.parse(text);
    if (type === 1) socket.send(JSON.stringify([2, 1, { roles: { broker: { features: {} } } }]));
    if (type !== 16) return;
    received.push(JSON.stringify([topic, options, ...payload]));
    socket.send(JSON.stringify([17, request, 1]));
  });
});

const client = new Wampy(`ws://127.0.0.1:${router.address().port}`, { realm: 'house', ws: WebSocket });
await client.connect();
await client.publish('lamp', true, { exclude_me: true });
await client.publish('lamp', false, { exclude_me: false });
await client.publish('heating', 21, { disclose_me: true });
await client.publish('heating', 0, { retain: true });
console.log('topic, options and payload at the router:', received);
const isSeen =
  JSON.stringify(received) ===
  JSON.stringify([
    '["lamp",{"acknowledge":true,"exclude_me":true},[true]]',
    '["lamp",{"acknowledge":true}]',
    '["heating",{"acknowledge":true,"disclose_me":true},[21]]',
    '["heating",{"acknowledge":true}]',
  ]);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
