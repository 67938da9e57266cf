#!/usr/bin/env bash
# better-sse 0.16.1: with a `serializer` of one's own, an event's data arrives without its other lines and without a leading space.
# Expected: the option takes any function that returns a string, and a string of two lines arrives as two lines.
# Seen: all lines follow one `data:`, without a space after it. A client ignores the further lines, and takes a leading space for a separator.
# With the default `JSON.stringify`, all arrive. With its third argument, for indentation, each object arrives as "{".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund better-sse@0.16.1 eventsource-parser@4.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createSession } from 'better-sse';
import { createParser } from 'eventsource-parser';

setTimeout(() => process.exit(1), 20_000).unref();

/** The data of three events as a client reads it. */
async function receivedOf(values, serializer) {
  const server = createServer(async (request, response) => {
    const session = await createSession(request, response, { serializer });
    for (const value of values) session.push(value);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const received = [];
  const parser = createParser({ onEvent: ({ data }) => received.push(data) });
  const response = await fetch(`http://127.0.0.1:${server.address().port}`);
  parser.feed(await response.text());
  return received;
}

const texts = ['Dear Ann,\nthank', ' you', '\n\nBob'];
const asJson = (await receivedOf(texts)).map((data) => JSON.parse(data));
const asText = await receivedOf(texts, String);
const indented = await receivedOf([{ price: 42 }], (value) => JSON.stringify(value, null, 2));
console.log('sent:', texts, { price: 42 });
console.log('received of the default serializer:', asJson);
console.log('received of `String`:', asText);
console.log('received of indented JSON:', indented);
const isSeen =
  JSON.stringify(asJson) === JSON.stringify(texts) &&
  JSON.stringify(asText) === '["Dear Ann,","you",""]' &&
  JSON.stringify(indented) === '["{"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
