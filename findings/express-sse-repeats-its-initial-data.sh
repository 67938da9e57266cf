#!/usr/bin/env bash
# express-sse 1.0.0: each new client makes all earlier ones receive the initial data again.
# Expected: the "initial content" of `new SSE([…])` is sent to the client that connects.
# Seen: it is emitted to all. A client that has dropped a row, or counts rows, has them twice after a second client.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund express-sse@1.0.0 express@5.3.0 eventsource-parser@4.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import express from 'express';
import SSE from 'express-sse';

setTimeout(() => process.exit(1), 20_000).unref();
const sse = new SSE(['tea', 'milk']);
const app = express();
app.get('/stream', sse.init);
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

/** The data that a client has received, which goes on receiving. */
async function connect() {
  const received = [];
  const parser = createParser({ onEvent: ({ data }) => received.push(data) });
  const { body } = await fetch(`http://127.0.0.1:${server.address().port}/stream`);
  (async () => {
    for await (const part of body.pipeThrough(new TextDecoderStream())) parser.feed(part);
  })();
  while (received.length < 2) await delay(10);
  return received;
}

const clients = [];
for (let i = 0; i < 3; i++) clients.push(await connect());
await delay(500);
for (const received of clients) console.log('received by a client:', received.join(', '));
const isSeen = clients.map((received) => received.length).join() === '6,4,2';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
