#!/usr/bin/env bash
# yamux-js 0.2.0: a frame that arrives in several reads of a socket is lost, and all that follows it too.
# Expected: a stream of the session delivers what was written into it. TCP keeps no borders between writes.
# Seen: the session keeps the header of such a frame and drops the bytes that came with it, and those of each further read. No error is emitted.
# A read of Node has 64 KiB at most, so a message of 1000 bytes arrives and one of 200 000 bytes never does.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund yamux-js@0.2.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import yamux from 'yamux-js';

setTimeout(() => process.exit(1), 20_000).unref();
const options = { enableKeepAlive: false, logger() {} };

/** How many bytes arrive of two messages, one after the other. */
async function receivedOf(first, second) {
  let received = 0;
  let failure = 'none';
  const onError = ({ message }) => (failure = message);
  const server = createServer((socket) => {
    const session = new yamux.Server((stream) => stream.on('data', ({ length }) => (received += length)), options);
    socket.pipe(session.on('error', onError)).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = new yamux.Client(options);
  const socket = connect(server.address().port, '127.0.0.1');
  socket.pipe(session.on('error', onError)).pipe(socket);
  const stream = session.open();
  stream.write(Buffer.alloc(first));
  await delay(1_000);
  stream.write(Buffer.alloc(second));
  await delay(1_000);
  return { sent: first + second, received, failure };
}

const small = await receivedOf(1_000, 1_000);
const large = await receivedOf(200_000, 1_000);
console.log('1000 bytes, and 1000 more:', small);
console.log('200 000 bytes, and 1000 more:', large);
const isSeen = small.received === 2_000 && large.received === 0 && large.failure === 'none';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
