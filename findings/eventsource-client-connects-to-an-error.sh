#!/usr/bin/env bash
# eventsource-client 1.2.0: an answer with 404, 401 or 500 counts as a connection, and the client asks again every two seconds for ever.
# Expected: an EventSource fails for good with any status but 200, as the HTML standard says.
# Seen: the client calls `onConnect`, then reads the error page as events. No callback learns of the status.
# The README names no such difference. eventsource 4.1.1 closes after the first answer.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund eventsource-client@1.2.0 eventsource@4.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { createEventSource } from 'eventsource-client';

setTimeout(() => process.exit(1), 20_000).unref();
const requests = { '/eventsource': 0, '/eventsource-client': 0 };
const server = createServer(({ url }, response) => {
  requests[url] += 1;
  response.writeHead(401, { 'content-type': 'text/html' }).end('<p>Please log in.</p>');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = `http://127.0.0.1:${server.address().port}`;

const eventSource = new EventSource(`${address}/eventsource`);
const callbacks = [];
const client = createEventSource({
  url: `${address}/eventsource-client`,
  onConnect: () => callbacks.push('onConnect'),
  onDisconnect: () => callbacks.push('onDisconnect'),
});
for (let waited = 0; requests['/eventsource-client'] < 3 && waited < 10_000; waited += 100) await delay(100);
client.close();
const isClosed = eventSource.readyState === EventSource.CLOSED;
console.log('requests:', requests);
console.log('eventsource is closed:', isClosed);
console.log('callbacks of eventsource-client:', callbacks.join(', '));
const isSeen =
  requests['/eventsource'] === 1 &&
  isClosed &&
  requests['/eventsource-client'] === 3 &&
  callbacks.slice(0, 4).join() === 'onConnect,onDisconnect,onConnect,onDisconnect';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
