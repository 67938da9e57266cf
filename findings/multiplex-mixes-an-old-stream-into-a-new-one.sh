#!/usr/bin/env bash
# multiplex 6.7.0: a new stream receives data of the stream that was destroyed before it.
# Expected: `destroy()` ends a stream for good. Its id is free again once the other end knows that it is gone.
# Seen: `createStream()` takes the same id at once, so the messages still under way come out of the new stream.
# So a page that leaves one room and enters another shows a message of the first room in the second.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund multiplex@6.7.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import multiplex from 'multiplex';

setTimeout(() => process.exit(1), 20_000).unref();
const rooms = new Map();
const server = createServer((socket) => {
  const plex = multiplex((stream, name) => {
    rooms.set(name, stream);
    stream.on('error', () => {});
    stream.write(`${name}: welcome`);
  });
  socket.pipe(plex).pipe(socket);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const plex = multiplex();
const socket = connect(server.address().port, '127.0.0.1');
socket.pipe(plex).pipe(socket);

/** Enters a room and collects the texts of its stream. */
async function enter(name) {
  const stream = plex.createStream(name);
  const texts = [];
  stream.on('data', (text) => texts.push(`${text}`));
  while (!texts.includes(`${name}: welcome`)) await delay(10);
  return { stream, texts };
}

const tea = await enter('tea');
rooms.get('tea').write('tea: a message under way');
tea.stream.destroy();
const milk = await enter('milk');
console.log('the stream "tea" received:', tea.texts);
console.log('the stream "milk" received:', milk.texts);
const isSeen = tea.texts.join() === 'tea: welcome' && milk.texts.join() === 'tea: a message under way,milk: welcome';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node --no-deprecation program.mjs &
wait $!
