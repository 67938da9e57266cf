#!/usr/bin/env bash
# extended-eventsource 2.1.0: each heartbeat of a server emits a message with the data ''.
# Expected: a comment emits nothing. The README says that the client is "fully compliant" with the WHATWG specification, which ignores comments.
# Seen: after the first message, a comment emits `message`, and so does a block that only sets an id or the retry time. So `JSON.parse(event.data)` throws.
# eventsource emits none of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund extended-eventsource@2.1.0 eventsource@4.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { EventSource as Other } from 'eventsource';
import { EventSource as Extended } from 'extended-eventsource';

setTimeout(() => process.exit(1), 20_000).unref();
console.info = console.warn = console.error = () => {};
const server = createServer(async (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const block of ['data: {}', ': heartbeat', 'id: 7', 'data: {"last":1}']) {
    response.write(`${block}\n\n`);
    await delay(200);
  }
}).listen(0, '127.0.0.1');
await once(server, 'listening');

/** The data of all messages up to the last one. */
function dataOf(EventSource) {
  return new Promise((resolve) => {
    const data = [];
    const source = new EventSource(`http://127.0.0.1:${server.address().port}`);
    source.onmessage = (event) => {
      data.push(event.data);
      if (!event.data.includes('last')) return;
      source.close();
      resolve(data);
    };
  });
}
const [extended, other] = [await dataOf(Extended), await dataOf(Other)];
console.log('eventsource:', other);
console.log('extended-eventsource:', extended);
const isSeen = JSON.stringify(extended) === '["{}","","","{\\"last\\":1}"]' && JSON.stringify(other) === '["{}","{\\"last\\":1}"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
