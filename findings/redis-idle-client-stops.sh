#!/usr/bin/env bash
# redis 6.3.1 (@redis/client): with `socketTimeout`, an idle client stops for good. Every other lost connection is dialed again.
# Expected: a socket that "closes unexpectedly" is dialed again by `reconnectStrategy`, whose default has no last attempt.
# Seen: the default strategy refuses this one cause. The client emits `terminated` and no `end`, and commands reject with "The client is closed".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund redis@6.3.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createClient } from 'redis';

setTimeout(() => process.exit(1), 20_000).unref();

// A server that answers OK to every line that begins a command.
const sockets = new Set();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  socket.on('data', (data) => socket.write('+OK\r\n'.repeat(String(data).split('\r\n*').length)));
}).listen(0, '127.0.0.1');
await once(server, 'listening');

async function lose(options, cut) {
  const events = [];
  const client = createClient({ RESP: 2, socket: { host: '127.0.0.1', port: server.address().port, ...options } });
  for (const type of ['error', 'end', 'reconnecting', 'ready']) client.on(type, () => events.push(type));
  await client.connect();
  events.length = 0;
  const settled = new Promise((resolve) => client.on('ready', resolve).on('terminated', () => setImmediate(resolve)));
  cut();
  await settled;
  const answer = await client.sendCommand(['PING']).catch((error) => error.message);
  return `${events.join(', ')}; PING: ${answer}`;
}

const cut = await lose({}, () => sockets.forEach((socket) => socket.destroy()));
const idle = await lose({ socketTimeout: 200 }, () => undefined);
console.log(`connection cut: ${cut}`);
console.log(`client idle:    ${idle}`);
const isSeen = cut === 'error, reconnecting, ready; PING: OK' && idle === 'error; PING: The client is closed';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
