#!/usr/bin/env bash
# sockette 2.0.6: the client does not dial again when its server goes away in order (1001), or closes without a code.
# Expected: it "will automatically reconnect if the connection is lost"; only `close()` of the client itself ends it.
# Seen: after 1001, the code of a server or proxy that restarts, it stays closed for good; after 1006 or 1012 it dials again.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund sockette@2.0.6 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import Sockette from 'sockette';
import { WebSocket, WebSocketServer } from 'ws';

globalThis.WebSocket = WebSocket;
setTimeout(() => process.exit(1), 20_000).unref();

/** How many connections a server gets that closes the first one in this way. */
async function connectionsAfter(close) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', (socket) => {
    if (++connections === 1) close(socket);
  });
  const client = new Sockette(`ws://127.0.0.1:${server.address().port}`, { timeout: 20, maxAttempts: 5 });
  await delay(1_000);
  client.close();
  server.close();
  return connections;
}

const seen = {};
for (const code of [1001, 1011, 1012]) seen[code] = await connectionsAfter((socket) => socket.close(code));
seen['no code'] = await connectionsAfter((socket) => socket.close());
seen['no close frame'] = await connectionsAfter((socket) => socket.terminate());
console.log('connections by the first close:', seen);
const isSeen = Object.values(seen).join() === '1,2,2,1,2';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
