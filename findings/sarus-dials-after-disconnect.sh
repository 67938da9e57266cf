#!/usr/bin/env bash
# @anephenix/sarus 0.7.12: `disconnect()` does not stop a client that waits to reconnect. The client connects again and stays connected.
# Expected: the README says that after `disconnect()` "the client will not attempt to reconnect automatically".
# Seen: the timer of the next attempt keeps running, so the server gets a connection from a client that has logged out.
# `disconnect()` of an open client ends it for good.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @anephenix/sarus@0.7.12 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import sarus from '@anephenix/sarus';
import { WebSocket, WebSocketServer } from 'ws';

const Sarus = sarus.default ?? sarus;
globalThis.window = globalThis;
globalThis.WebSocket = WebSocket;
setTimeout(() => process.exit(1), 20_000).unref();

/** How many connections a server has got and still has a second after a `disconnect()`. */
async function connections(isRestarting) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  let accepted = 0;
  server.on('connection', (socket) => {
    if (++accepted === 1 && isRestarting) socket.close(1012);
  });
  const client = new Sarus({ url: `ws://127.0.0.1:${server.address().port}`, retryConnectionDelay: 400 });
  await delay(200);
  client.disconnect();
  await delay(1_000);
  return { accepted, open: server.clients.size };
}

const open = await connections(false);
const waiting = await connections(true);
console.log('disconnect() of an open client:', open);
console.log('disconnect() of a client that waits to reconnect:', waiting);
const isSeen = JSON.stringify([open, waiting]) === '[{"accepted":1,"open":0},{"accepted":2,"open":1}]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
