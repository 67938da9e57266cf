#!/usr/bin/env bash
# sturdy-websocket 0.2.1: `close()` emits no `close`.
# Expected: the README says that `onclose` is called once "after the `SturdyWebSocket` is closed permanently either by using `close()`" or for other reasons.
# Seen: the server closes its side, `readyState` is CLOSED, and neither `onclose` nor a listener is ever called. A client that stops reconnecting emits it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund sturdy-websocket@0.2.1 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import sturdy from 'sturdy-websocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const SturdyWebSocket = sturdy.default ?? sturdy;
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');

/** What happens to a client after its opening: `end` closes it on one of both sides. */
async function eventsOf(end) {
  const events = [];
  const client = new SturdyWebSocket(`ws://127.0.0.1:${server.address().port}`, { wsConstructor: WebSocket, shouldReconnect: () => false });
  const [[socket]] = await Promise.all([once(server, 'connection'), new Promise((resolve) => (client.onopen = resolve))]);
  client.onclose = () => events.push('onclose');
  client.addEventListener('close', () => events.push('listener'));
  const closed = once(socket, 'close').then(() => events.push('closed at the server'));
  end(client, socket);
  await closed;
  await delay(500);
  return [...events, client.readyState === client.CLOSED ? 'CLOSED' : 'not CLOSED'].sort().join(', ');
}
const [byClient, byServer] = [await eventsOf((client) => client.close()), await eventsOf((_, socket) => socket.close())];
console.log('closed by its user:', byClient);
console.log('closed by its server:', byServer);
const isSeen = byClient === 'CLOSED, closed at the server' && byServer === 'CLOSED, closed at the server, listener, onclose';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
