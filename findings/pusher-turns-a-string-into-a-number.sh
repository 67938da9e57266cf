#!/usr/bin/env bash
# pusher 5.3.4, pusher-js 8.6.0: a string of digits that the server triggers arrives as a number, rounded if it is long.
# Expected: `trigger('orders', 'paid', '12345678901234567890')` calls a listener with that string.
# The README triggers strings ("test1"), and Pusher's page on publishing events allows any format for a message.
# Seen: the server sends a string as it is and everything else as JSON. The client parses all of it.
# So an id of 20 digits arrives as another id, and "null" as null. A string within an object, or with a leading zero, is safe.
# The server of Pusher is a local one, which forwards the text that it gets.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pusher@5.3.4 pusher-js@8.6.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import Pusher from 'pusher';
import PusherClient from 'pusher-js';
import { WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const http = createServer(async (request, response) => {
  const { name, data, channels } = JSON.parse(Buffer.concat(await request.toArray()));
  for (const socket of sockets.clients) socket.send(JSON.stringify({ event: name, channel: channels[0], data }));
  response.end('{}');
}).listen(0, '127.0.0.1');
await once(http, 'listening');
const { port } = http.address();
const sockets = new WebSocketServer({ server: http });
sockets.on('connection', (socket) => {
  const send = (event, channel, data) => socket.send(JSON.stringify({ event, channel, data: JSON.stringify(data) }));
  send('pusher:connection_established', undefined, { socket_id: '1.1', activity_timeout: 120 });
  socket.on('message', (text) => {
    const { event, data } = JSON.parse(text);
    if (event === 'pusher:subscribe') send('pusher_internal:subscription_succeeded', data.channel, {});
  });
});

const server = new Pusher({ appId: '1', key: 'key', secret: 'secret', host: '127.0.0.1', port: `${port}`, useTLS: false });
const client = new PusherClient('key', { cluster: 'local', wsHost: '127.0.0.1', wsPort: port, forceTLS: false, enabledTransports: ['ws'] });
const channel = client.subscribe('orders');
await new Promise((resolve) => channel.bind('pusher:subscription_succeeded', resolve));

const seen = [];
for (const id of ['12345678901234567890', '1e3', 'null', '0123', { id: '12345678901234567890' }]) {
  const arrived = new Promise((resolve) => channel.bind('paid', resolve));
  await server.trigger('orders', 'paid', id);
  seen.push(await arrived);
  channel.unbind('paid');
  console.log(id, '->', seen.at(-1));
}
const isSeen = JSON.stringify(seen) === '[12345678901234567000,1000,null,"0123",{"id":"12345678901234567890"}]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
