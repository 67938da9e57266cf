#!/usr/bin/env bash
# fetch-event-stream 0.1.6: every line of an event's data arrives without the spaces and tabs at its beginning.
# Expected: one space after `data:` belongs to the format and all others to the data, as the HTML standard says.
# Seen: the words of a language model run together, and code loses its indentation. eventsource-parser reads the same stream as it was sent.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fetch-event-stream@0.1.6 eventsource-parser@4.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createParser } from 'eventsource-parser';
import { stream } from 'fetch-event-stream';

setTimeout(() => process.exit(1), 20_000).unref();
const tokens = ['Thank', ' you', ' both', 'for name in names:\n    print(name)'];
const server = createServer((request, response) => {
  response.setHeader('content-type', 'text/event-stream');
  for (const token of tokens) response.write(`data: ${token.replaceAll('\n', '\ndata: ')}\n\n`);
  response.end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

const parsed = [];
const parser = createParser({ onEvent: ({ data }) => parsed.push(data) });
parser.feed(await (await fetch(url)).text());
const streamed = [];
for await (const { data } of await stream(url)) streamed.push(data);
console.log('sent:', tokens);
console.log('received by eventsource-parser:', parsed);
console.log('received by fetch-event-stream:', streamed);
const isSeen =
  JSON.stringify(parsed) === JSON.stringify(tokens) &&
  JSON.stringify(streamed) === '["Thank","you","both","for name in names:\\nprint(name)"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
