#!/usr/bin/env bash
# stompit 1.0.0: messages that a channel sends with one headers object arrive several times, and its connection is lost.
# Expected: three calls of `send()` are three messages, whatever object the headers are read from.
# Seen: each call writes its receipt number into the caller's object, so all three frames ask for the last number.
# The second receipt of that number is an "invalid receipt" to the client, which connects again and repeats what seems unanswered.
# With a new object for each call, each message is sent once.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund stompit@1.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import stompit from 'stompit';

setTimeout(() => process.exit(1), 20_000).unref();
let connections = 0;
let bodies = [];
const broker = createServer((socket) => {
  let unread = '';
  connections += 1;
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    const frames = (unread + bytes).split('\0');
    unread = frames.pop();
    for (const frame of frames) {
      const [head, body] = frame.trimStart().split('\n\n');
      if (head.startsWith('CONNECT')) socket.write('CONNECTED\nversion:1.2\n\n\0');
      if (head.startsWith('SEND')) bodies.push(body);
      const [, receipt] = /^receipt:(.*)$/m.exec(head) ?? [];
      if (receipt) socket.write(`RECEIPT\nreceipt-id:${receipt}\n\n\0`);
    }
  });
}).listen(0, '127.0.0.1');
await once(broker, 'listening');
const address = { host: '127.0.0.1', port: broker.address().port };

/** What the broker receives of three messages, and how many connections it takes. */
async function receivedOf(headersOf) {
  [connections, bodies] = [0, []];
  const channel = new stompit.Channel(new stompit.ConnectFailover([address], { initialReconnectDelay: 10 }));
  const sent = ['one', 'two', 'three'].map(
    (text) => new Promise((resolve) => channel.send(headersOf(), text, () => resolve(text))),
  );
  await Promise.all(sent);
  await delay(500);
  channel.close();
  return { bodies, connections };
}

const ofEach = await receivedOf(() => ({ destination: '/queue/numbers' }));
const shared = { destination: '/queue/numbers' };
const ofOne = await receivedOf(() => shared);
console.log('a headers object for each message:', ofEach);
console.log('one headers object for all:', ofOne);
const isSeen =
  JSON.stringify(ofEach) === '{"bodies":["one","two","three"],"connections":1}' &&
  ofOne.bodies.filter((body) => body === 'one').length > 1 &&
  ofOne.connections > 1;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
