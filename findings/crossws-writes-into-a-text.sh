#!/usr/bin/env bash
# crossws 0.4.17: over its SSE adapter, a text of two lines arrives with ",data: " in place of its line break.
# Expected: `peer.send("two\nlines")` arrives as it was sent, as over the WebSocket adapters.
# Seen: the adapter writes both lines into one `data:` field. A line break at the end becomes ",data: " too.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund crossws@0.4.17 eventsource-parser@4.1.3 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import nodeAdapter from 'crossws/adapters/node';
import sseAdapter from 'crossws/adapters/sse';
import { createParser } from 'eventsource-parser';
import { WebSocket } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const texts = ['one line', 'two\nlines', 'a last line\n'];
const hooks = {
  open(peer) {
    for (const text of texts) peer.send(text);
  },
};

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
server.on('upgrade', nodeAdapter({ hooks }).handleUpgrade);
const overWebSocket = [];
const socket = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
await new Promise((resolve) => {
  socket.on('message', (text) => overWebSocket.push(`${text}`) === texts.length && resolve());
});

const overSse = [];
const parser = createParser({ onEvent: ({ data }) => overSse.push(data) });
const { body } = await sseAdapter({ hooks }).fetch(new Request('http://localhost/chat'));
for await (const part of body.pipeThrough(new TextDecoderStream())) {
  parser.feed(part);
  if (overSse.length === texts.length) break;
}
console.log('sent:', texts);
console.log('received over a WebSocket:', overWebSocket);
console.log('received over SSE:', overSse);
const isSeen =
  JSON.stringify(overWebSocket) === JSON.stringify(texts) &&
  JSON.stringify(overSse) === '["one line","two,data: lines","a last line,data: "]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
