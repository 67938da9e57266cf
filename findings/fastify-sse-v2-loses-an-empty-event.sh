#!/usr/bin/env bash
# fastify-sse-v2 4.2.2: an event whose data is the empty string never arrives, and a text ends at its first carriage return.
# Expected: `reply.sse({ event: 'done', data: '' })` runs the listener of "done". A carriage return ends a line of data, as a line feed does.
# Seen: the server writes no `data` line for `''`, and a client dispatches no event without one. Of "a\rb" the client gets "a".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fastify-sse-v2@4.2.2 fastify@5.12.8 eventsource-parser@3.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { createParser } from 'eventsource-parser';
import fastify from 'fastify';
import { FastifySSEPlugin } from 'fastify-sse-v2';

setTimeout(() => process.exit(1), 20_000).unref();
const sent = [
  { event: 'step', data: 'one' },
  { event: 'done', data: '' },
  { event: 'step', data: 'a\rb' },
  { event: 'step', data: 'a\nb' },
  { event: 'step', data: 'last' },
];
const server = fastify();
await server.register(FastifySSEPlugin);
server.get('/', (_request, reply) => {
  for (const event of sent) reply.sse(event);
});
const url = await server.listen({ host: '127.0.0.1', port: 0 });

const received = [];
const parser = createParser({ onEvent: ({ event, data }) => received.push({ event, data }) });
const { body } = await fetch(url);
for await (const part of body.pipeThrough(new TextDecoderStream())) {
  parser.feed(part);
  if (received.at(-1)?.data === 'last') break;
}
console.log('sent:', sent);
console.log('received:', received);
const isSeen = JSON.stringify(received.map(({ event, data }) => `${event} ${data}`)) === '["step one","step a","step a\\nb","step last"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
