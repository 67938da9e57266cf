#!/usr/bin/env bash
# koa-sse-stream 0.2.0: `send({ data: object })` sends the text "[object Object]".
# Expected: the README says of `data.data`: "if it's object, it will be converted to json".
# Seen: the client gets "[object Object]" for each object, and "1,2" for an array. Nothing throws.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund koa-sse-stream@0.2.0 koa@3.3.0 eventsource-parser@3.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createParser } from 'eventsource-parser';
import Koa from 'koa';
import sse from 'koa-sse-stream';

setTimeout(() => process.exit(1), 20_000).unref();
const payloads = [{ price: 42 }, [1, 2], 'a text', 42];
const app = new Koa();
app.use(sse());
app.use((context) => {
  for (const data of payloads) context.sse.send({ event: 'price', data });
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

const received = [];
const parser = createParser({ onEvent: ({ data }) => received.push(data) });
const { body } = await fetch(`http://127.0.0.1:${server.address().port}`);
for await (const part of body.pipeThrough(new TextDecoderStream())) {
  parser.feed(part);
  if (received.length === payloads.length) break;
}
console.log('sent:', payloads);
console.log('received:', received);
const isSeen = JSON.stringify(received) === '["[object Object]","1,2","a text","42"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
