#!/usr/bin/env bash
# rpc-websockets 10.0.1: an event without parameters overtakes events with parameters that the server emitted before it.
# Expected: one connection keeps the order, so a client gets "done" after the last "added".
# Seen: the client emits events without parameters at once, and all others in a microtask. In Node, "done" comes first if one read brings all three.
# So a client that closes its list at "done" loses the items. With a parameter, `emit('done', true)` keeps its place.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rpc-websockets@10.0.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Server } from 'rpc-websockets';

setTimeout(() => process.exit(1), 20_000).unref();
const server = new Server({ host: '127.0.0.1', port: 0 });
await once(server.wss, 'listening');
server.event('added');
server.event('done');
const client = new Client(`ws://127.0.0.1:${server.wss.address().port}`);
await new Promise((resolve) => client.once('open', resolve));
await client.subscribe(['added', 'done']);
let events = [];
client.on('added', (item) => events.push(`added ${item}`));
client.on('done', () => events.push('done'));

/** What the client receives, in each order that comes in 20 rounds. */
async function ordersOf(...parameters) {
  const orders = new Set();
  for (let round = 0; round < 20; round++) {
    events = [];
    server.emit('added', 'tea');
    server.emit('added', 'milk');
    server.emit('done', ...parameters);
    while (events.length < 3) await delay(10);
    orders.add(events.join(', '));
  }
  return [...orders];
}

const without = await ordersOf();
const withOne = await ordersOf(true);
console.log('emitted: added tea, added milk, done');
console.log('received, if "done" has no parameter:', without);
console.log('received, if "done" has one:', withOne);
const isSeen = without.includes('done, added tea, added milk') && withOne.join() === 'added tea, added milk, done';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
