#!/usr/bin/env bash
# Node 26.10.0 (undici 8.10.2): an open WebSocket over HTTP/2 does not keep its process alive. The same one over HTTP/1.1 does.
# Expected: a program that only listens to its WebSocket runs until the socket closes, whatever HTTP version the server chooses.
# Seen: it opens, and the process ends with status 0 while `readyState` is 1 (OPEN). `wss:` uses HTTP/2 wherever the server offers it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@26.10.0 ws@8.23.0 >/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -keyout key.pem -out cert.pem -subj /CN=127.0.0.1 \
  -addext subjectAltName=IP:127.0.0.1 2>/dev/null
cat >client.mjs <<'CLIENT'
const socket = new WebSocket(process.argv[2]);
socket.onopen = () => console.log('open');
process.on('exit', () => console.log(`exit with readyState ${socket.readyState}`));
CLIENT
cat >program.mjs <<'PROGRAM'
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import { WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 60_000).unref();
const [key, cert] = [readFileSync('key.pem'), readFileSync('cert.pem')];
const first = createServer({ key, cert });
new WebSocketServer({ server: first });
const second = createSecureServer({ key, cert, settings: { enableConnectProtocol: true } });
second.on('stream', (stream, headers) => {
  stream.on('error', () => undefined);
  const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  stream.respond({ ':status': 200, 'sec-websocket-accept': accept });
});

/** What a client prints in the 5 s after its socket has opened, or until its process ends. */
async function run(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const child = spawn('node_modules/.bin/node', ['client.mjs', `wss://127.0.0.1:${server.address().port}`], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: 'cert.pem' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'close');
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
    setTimeout(() => child.kill(), 5_000).unref();
  });
  const [status, signal] = await ended;
  return `${text.trim().replaceAll('\n', ', ')}${signal === null ? `, status ${status}` : ', still running after 5 s'}`;
}

const seen = [await run(first), await run(second)];
console.log(`HTTP/1.1: ${seen[0]}`);
console.log(`HTTP/2: ${seen[1]}`);
const isSeen = seen[0] === 'open, still running after 5 s' && seen[1] === 'open, exit with readyState 1, status 0';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
