#!/usr/bin/env bash
# simpleddp 2.2.4: a document with a field `id` is never changed nor removed.
# Expected: a client's collection equals its server's. In DDP a document's own id stands beside its fields, which may have any name.
# Seen: the field takes the place of the document's id. So `changed` adds a second document, and `removed` removes none.
# A document without such a field is changed and removed.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund simpleddp@2.2.4 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import simpleddp from 'simpleddp';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const SimpleDDP = simpleddp.default ?? simpleddp;
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
let send;
server.on('connection', (socket) => {
  send = (message) => socket.send(JSON.stringify(message));
  socket.on('message', (text) => {
    if (JSON.parse(text).msg === 'connect') send({ msg: 'connected', session: 'one' });
  });
});
const client = new SimpleDDP({ endpoint: `ws://127.0.0.1:${server.address().port}`, SocketConstructor: WebSocket });
await client.connect();
await delay(300);

const documents = () => JSON.stringify(client.collection('users').fetch());
const seen = [];
/** Sends a message of the server's collection, and keeps what the client's collection holds then. */
async function tell(msg, id, fields) {
  send({ msg, collection: 'users', id, fields });
  await delay(300);
  seen.push(documents());
  console.log(msg, id, JSON.stringify(fields) ?? '', '->', documents());
}
await tell('added', 'a1', { name: 'Ann' });
await tell('changed', 'a1', { name: 'Anna' });
await tell('removed', 'a1');
await tell('added', 'b2', { id: 7, name: 'Bob' });
await tell('changed', 'b2', { name: 'Bobby' });
await tell('removed', 'b2');
const isSeen =
  seen.slice(0, 3).join(' ') === '[{"id":"a1","name":"Ann"}] [{"id":"a1","name":"Anna"}] []' &&
  seen[3] === '[{"id":7,"name":"Bob"}]' &&
  seen[4] === '[{"id":7,"name":"Bob"},{"id":"b2","name":"Bobby"}]' &&
  seen[5] === '[{"id":7,"name":"Bob"}]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
