#!/usr/bin/env bash
# eventsource 4.1.1: the client forgets an id that comes without data, and reconnects from an older one.
# Expected: the standard dispatches no event for such an id, keeps it, and sends it at the next connection. The README calls the client "WhatWG/W3C-compatible".
# Seen: after "id: 6" with data and "id: 7" alone, the client asks for the events after 6. The EventSource of undici 7.30.2 asks for those after 7.
# A server sends such ids to move a client past events that are not for it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund eventsource@4.1.1 undici@7.30.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { EventSource } from 'eventsource';
import { EventSource as EventSourceOfUndici } from 'undici';

setTimeout(() => process.exit(1), 20_000).unref();

/** The `Last-Event-ID` of a client's second connection. */
async function lastIdOf(Client) {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const id = request.headers['last-event-id'];
    if (id === undefined) response.end('retry: 50\nid: 6\ndata: news\n\nid: 7\n\n');
    else response.write(`data: ${id}\n\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new Client(`http://127.0.0.1:${server.address().port}`);
  const data = await new Promise((resolve) => {
    client.onmessage = (event) => event.data !== 'news' && resolve(event.data);
  });
  client.close();
  return data;
}

const ofEventsource = await lastIdOf(EventSource);
const ofUndici = await lastIdOf(EventSourceOfUndici);
console.log(`the client reconnects with: ${ofEventsource} (eventsource), ${ofUndici} (undici)`);
const isSeen = ofEventsource === '6' && ofUndici === '7';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node --no-warnings program.mjs &
wait $!
