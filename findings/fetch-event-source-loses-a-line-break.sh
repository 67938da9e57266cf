#!/usr/bin/env bash
# @microsoft/fetch-event-source 2.0.1: line breaks at the beginning of an event's data are lost, and a single one arrives as ''.
# Expected: each `data:` line of an event is a line of its data, so two empty ones are "\n", as the HTML standard says.
# Seen: while the data is still '', the next line replaces it. Nothing is thrown.
# So a page that joins the tokens of a language model loses paragraphs. eventsource-parser reads the same stream as it was sent.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @microsoft/fetch-event-source@2.0.1 eventsource-parser@4.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { createParser } from 'eventsource-parser';

setTimeout(() => process.exit(1), 20_000).unref();
globalThis.window = globalThis;
globalThis.document = { addEventListener() {}, removeEventListener() {} };
const tokens = ['Dear Ann,', '\n', '\n\nthank', ' you', '\nBob'];
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
const fetched = [];
await fetchEventSource(url, { openWhenHidden: true, onmessage: ({ data }) => fetched.push(data) });
console.log('sent:', tokens);
console.log('received by eventsource-parser:', parsed);
console.log('received by fetch-event-source:', fetched);
const isSeen =
  JSON.stringify(parsed) === JSON.stringify(tokens) && JSON.stringify(fetched) === '["Dear Ann,","","thank"," you","Bob"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
