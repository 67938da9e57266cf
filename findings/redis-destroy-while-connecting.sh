#!/usr/bin/env bash
# redis 6.3.1 (@redis/client): `destroy()` of a client that is still connecting leaves its connection open for good.
# Expected: `destroy()` ("destroy the client; rejects all commands immediately") leaves the server no connection of the client.
# Seen: the socket of the dial is no member of the client yet, so nothing closes it. It connects afterwards and stays.
# A second `destroy()` after `connect()` has settled closes it, in 6.3.1. In 5.0.0 the second one throws.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund redis@6.3.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'redis';

setTimeout(() => process.exit(1), 20_000).unref();

// A server that answers OK to every line that begins a command.
const open = new Set();
const server = createServer((socket) => {
  open.add(socket);
  socket.on('close', () => open.delete(socket)).on('error', () => undefined);
  socket.on('data', (data) => socket.write('+OK\r\n'.repeat(String(data).split('\r\n*').length)));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const client = createClient({ RESP: 2, socket: { host: '127.0.0.1', port: server.address().port } }).on('error', () => undefined);
const connecting = client.connect().catch(() => undefined);
client.destroy();
await connecting;
await pause(500);
console.log(`open after destroy(): ${open.size}, isOpen: ${client.isOpen}`);
const isSeen = open.size === 1 && !client.isOpen;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
