#!/usr/bin/env bash
# @quilted/threads 4.1.0: over a WebSocket an ArrayBuffer arrives as `{}`, a Float64Array as an object, and NaN as `null`.
# Expected: the README says that `ThreadBrowserWebSocket` "supports all the types supported by" structured cloning.
# Seen: JSON takes what the library does not know, without an error at either end. Over a MessagePort the values arrive.
# The documentation of the class behind it, `ThreadSerializationJSON`, lists a few types.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @quilted/threads@4.1.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { ThreadBrowserWebSocket, ThreadMessagePort } from '@quilted/threads';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
globalThis.WebSocket ??= WebSocket;
const exports = { echo: async (value) => value };

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => new ThreadBrowserWebSocket(socket, { exports }));
const socket = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
await once(socket, 'open');
const overSocket = new ThreadBrowserWebSocket(socket);

const { port1, port2 } = new MessageChannel();
new ThreadMessagePort(port2, { exports });
const overPort = new ThreadMessagePort(port1);
port1.start();
port2.start();

const values = [new Uint8Array([1, 2]).buffer, new Float64Array([0.5, 2]), NaN, Infinity];
const seen = { port: [], socket: [] };
for (const value of values) {
  seen.port.push(await overPort.imports.echo(value));
  seen.socket.push(await overSocket.imports.echo(value));
}
console.log('over a MessagePort:', seen.port);
console.log('over a WebSocket:', seen.socket);
const [buffer, floats, ...numbers] = seen.port;
const isSeen =
  buffer.byteLength === 2 &&
  floats.join() === '0.5,2' &&
  numbers.join() === 'NaN,Infinity' &&
  JSON.stringify(seen.socket) === '[{},{"0":0.5,"1":2},null,null]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
