#!/usr/bin/env bash
# @stomp/rx-stomp 2.4.0: the Observable of `watch()` neither completes nor errors when `deactivate()` ends the client.
# Expected: the end of the client ends its Observables, so that `toArray()`, `lastValueFrom()` and `finalize()` run.
# Seen: the subscription stays open, without a source; only the caller's own `unsubscribe()` or `takeUntil()` ends it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @stomp/rx-stomp@2.4.0 @stomp/stompjs@7.5.0 rxjs@7.8.2 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { RxStomp, RxStompState } from '@stomp/rx-stomp';
import { finalize, map } from 'rxjs';
import { WebSocket, WebSocketServer } from 'ws';

globalThis.WebSocket = WebSocket;
setTimeout(() => process.exit(1), 20_000).unref();
const broker = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'v12.stomp' });
await once(broker, 'listening');
broker.on('connection', (socket) => {
  const reply = (...lines) => socket.send(`${lines.join('\n')}\0`);
  socket.on('message', (data) => {
    const text = String(data);
    const header = (name) => new RegExp(`^${name}:(.*)$`, 'm').exec(text)?.[1];
    if (text.startsWith('CONNECT')) reply('CONNECTED', 'version:1.2', '', '');
    if (text.startsWith('SUBSCRIBE')) reply('MESSAGE', `subscription:${header('id')}`, 'message-id:1', 'destination:/prices', '', 'ACME 42');
    if (header('receipt') !== undefined) reply('RECEIPT', `receipt-id:${header('receipt')}`, '', '');
  });
});

const client = new RxStomp();
client.configure({ brokerURL: `ws://127.0.0.1:${broker.address().port}` });
const seen = [];
client
  .watch('/prices')
  .pipe(
    map(({ body }) => body),
    finalize(() => seen.push('finalize')),
  )
  .subscribe({ next: (body) => seen.push(body), error: () => seen.push('error'), complete: () => seen.push('complete') });
client.activate();
while (seen.length === 0) await delay(10);
await client.deactivate();
await delay(500);
console.log('the client is closed:', client.connectionState$.value === RxStompState.CLOSED);
console.log('the subscriber has seen:', seen);
const isSeen = client.connectionState$.value === RxStompState.CLOSED && seen.join() === 'ACME 42';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
