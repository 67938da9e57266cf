#!/usr/bin/env bash
# parse-sse 0.1.0: a text of two lines arrives as two events if a read of the socket ends between CR and LF.
# Expected: one event "a\nb". The README says "spec-compliant", and CRLF is one line end in whatever chunks it arrives.
# Seen: the LF of the next chunk is taken for an empty line, which ends the event. In one chunk the text arrives whole.
# eventsource-parser reads both right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund parse-sse@0.1.0 eventsource-parser@4.1.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { parseServerSentEvents } from 'parse-sse';

/** The data of all events that parse-sse and eventsource-parser read of these chunks. */
async function dataOf(...chunks) {
  const response = new Response(ReadableStream.from(chunks).pipeThrough(new TextEncoderStream()), {
    headers: { 'content-type': 'text/event-stream' },
  });
  const [data, others] = [[], []];
  for await (const event of parseServerSentEvents(response)) data.push(event.data);
  for await (const event of ReadableStream.from(chunks).pipeThrough(new EventSourceParserStream())) others.push(event.data);
  return { data, others };
}

const whole = await dataOf('data: a\r\ndata: b\r\n\r\n');
const split = await dataOf('data: a\r', '\ndata: b\r\n\r\n');
console.log('in one chunk:', whole.data, 'eventsource-parser:', whole.others);
console.log('in two chunks:', split.data, 'eventsource-parser:', split.others);
const isSeen =
  JSON.stringify(whole) === '{"data":["a\\nb"],"others":["a\\nb"]}' && JSON.stringify(split) === '{"data":["a","b"],"others":["a\\nb"]}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
