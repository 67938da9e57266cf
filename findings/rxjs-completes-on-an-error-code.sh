#!/usr/bin/env bash
# rxjs 7.8.2: `webSocket()` completes when the server closes with an error code, so `retry()` does not dial again.
# Expected: a close with 1011 (internal error) is an error, and `retry({ count: 3 })` dials three times more.
# Seen: any closing handshake completes the Observable, whatever its code. Only a connection that breaks (1006) is an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rxjs@7.8.2 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { retry } from 'rxjs';
import { webSocket } from 'rxjs/webSocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();

async function dial(end) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  let dials = 0;
  server.on('connection', (socket) => {
    dials += 1;
    end(socket);
  });
  const socket$ = webSocket({ url: `ws://127.0.0.1:${server.address().port}`, WebSocketCtor: WebSocket });
  const how = await new Promise((resolve) => {
    socket$.pipe(retry({ count: 3, delay: 10 })).subscribe({ error: () => resolve('error'), complete: () => resolve('complete') });
  });
  return `${how}, dials: ${dials}`;
}

const closed = await dial((socket) => socket.close(1011, 'internal error'));
const broken = await dial((socket) => socket.terminate());
console.log(`close with 1011: ${closed}`);
console.log(`no close frame:  ${broken}`);
const isSeen = closed === 'complete, dials: 1' && broken === 'error, dials: 4';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
