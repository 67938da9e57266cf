#!/usr/bin/env bash
# rxjs 7.8.2: `webSocket()` queues what is sent before it has connected, and loses the queue when a dial fails.
# Expected: `retry()` dials until the server is up, and the queued message is sent then, as it is if the first dial succeeds.
# Seen: both messages that were sent before and between the failed dials never arrive; only one sent after the connection does.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rxjs@7.8.2 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:net';
import { retry } from 'rxjs';
import { webSocket } from 'rxjs/webSocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();

/** Sends before and while a client dials a port, which a server takes after so many failed dials. Returns what arrives. */
async function receivedAfter(failures) {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  const received = [];
  let isOver = () => undefined;
  const over = new Promise((resolve) => (isOver = resolve));
  const listen = () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    server.on('connection', (socket) => {
      socket.on('message', (data) => {
        received.push(JSON.parse(data));
        if (received.at(-1) === 'last') isOver();
      });
    });
    return once(server, 'listening');
  };
  if (failures === 0) await listen();
  let failed = 0;
  const openObserver = { next: () => setImmediate(() => subject.next('last')) };
  const subject = webSocket({ url: `ws://127.0.0.1:${port}`, WebSocketCtor: WebSocket, openObserver });
  const redial = async () => {
    subject.next('between');
    if (++failed === failures) await listen();
  };
  subject.next('first');
  subject.pipe(retry({ delay: redial })).subscribe();
  await over;
  return received;
}

const [straight, retried] = [await receivedAfter(0), await receivedAfter(2)];
console.log('the first dial succeeds:', straight);
console.log('two dials fail first:', retried);
const isSeen = straight.join() === 'first,last' && !retried.includes('first') && retried.at(-1) === 'last';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
