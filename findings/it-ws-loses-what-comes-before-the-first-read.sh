#!/usr/bin/env bash
# it-ws 6.1.5: a stream drops the messages that arrive between its opening and the first read of its `source`.
# Expected: the stream keeps them until they are read. The README's example waits for `stream.connected()` before it reads, and its buffer has no limit.
# Seen: it listens for messages from the first read on. A greeting that a server sends at once is lost, and so is all that comes during a log-in.
# A client that reads without a wait gets the greeting.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund it-ws@6.1.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import { connect } from 'it-ws/client';
import { createServer } from 'it-ws/server';

setTimeout(() => process.exit(1), 20_000).unref();

// The server sends a greeting, and says goodbye once the client has received it.
const server = createServer({
  onConnection({ socket }) {
    socket.send('hello');
    socket.on('message', () => {
      socket.send('bye');
      socket.close();
    });
  },
});
await server.listen(0);

/** What a client reads at once, or once it has received the greeting. */
async function messagesOf(isWaiting) {
  const stream = connect(`ws://127.0.0.1:${server.address().port}`);
  const received = new Promise((resolve) => stream.socket.addEventListener('message', resolve, { once: true }));
  async function answer() {
    await received;
    stream.socket.send('thank you');
  }
  if (isWaiting) {
    await stream.connected();
    await received;
  }
  const messages = [];
  const answered = answer();
  for await (const bytes of stream.source) messages.push(new TextDecoder().decode(bytes));
  await answered;
  return messages.join(', ');
}

const atOnce = await messagesOf(false);
const afterWait = await messagesOf(true);
console.log('read at once:', atOnce);
console.log('read after a wait:', afterWait);
const isSeen = atOnce === 'hello, bye' && afterWait === 'bye';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
