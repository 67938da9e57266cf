#!/usr/bin/env bash
# @fastify/http-proxy 11.6.3: the proxy accepts an upgrade before it asks its upstream. A refused one opens and closes.
# Expected: the upstream's "503, Retry-After: 7" reaches the client as the answer to its upgrade, as it does for a GET.
# Seen: the client gets `open` with the subprotocol it offered, then a close with 1011 "unexpected response".
# So a client that resets its back-off at `open` dials without pause, and the status is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @fastify/http-proxy@11.6.3 fastify@5.12.8 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import proxy from '@fastify/http-proxy';
import fastify from 'fastify';
import { WebSocket } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const upstream = createServer((_, response) => response.writeHead(503, { 'retry-after': '7' }).end());
upstream.on('upgrade', (_, socket) => {
  socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
});
upstream.listen(0, '127.0.0.1');
await once(upstream, 'listening');

const front = fastify();
front.register(proxy, { upstream: `http://127.0.0.1:${upstream.address().port}`, websocket: true });
const address = await front.listen({ host: '127.0.0.1', port: 0 });

const { status, headers } = await fetch(address);
const seen = [];
const client = new WebSocket(address.replace('http', 'ws'), ['chat']);
await new Promise((resolve) => {
  client.on('open', () => seen.push(`open ${client.protocol}`));
  client.on('error', (error) => resolve(seen.push(error.message)));
  client.on('close', (code, reason) => resolve(seen.push(`close ${code} ${reason}`)));
});
console.log(`GET: ${status}, Retry-After ${headers.get('retry-after')}`);
console.log(`upgrade: ${seen.join(', ')}`);
const isSeen = status === 503 && seen.join() === 'open chat,close 1011 unexpected response';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
