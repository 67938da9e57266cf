#!/usr/bin/env bash
# phoenix 1.8.16: a push that is under way when its socket is lost gets `timeout` after its ten seconds, and no `error` before.
# Expected: the loss fails the push at once, or the push is sent again after the rejoin: a push made during the loss is.
# Seen: the channel has long rejoined, the push is not repeated, and its caller waits for the whole time.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund phoenix@1.8.16 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { Socket } from 'phoenix';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 30_000).unref();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
const log = [];
server.on('connection', (connection) => {
  connection.on('message', (data) => {
    const [join, ref, topic, event] = JSON.parse(data);
    log.push(event);
    if (event === 'phx_join') connection.send(JSON.stringify([join, ref, topic, 'phx_reply', { status: 'ok', response: {} }]));
    if (event === 'charge') connection.terminate();
  });
});

const socket = new Socket(`ws://127.0.0.1:${server.address().port}/socket`, {
  transport: WebSocket,
  reconnectAfterMs: () => 20,
  rejoinAfterMs: () => 20,
});
socket.onError(() => log.push('lost'));
socket.connect();
const channel = socket.channel('room:1');
await new Promise((resolve) => channel.join().receive('ok', resolve));
await new Promise((resolve) => {
  const push = channel.push('charge', { cents: 5 }, 2_000);
  for (const hook of ['ok', 'error', 'timeout'])
    push.receive(hook, () => {
      log.push(hook);
      resolve();
    });
});
console.log('in this order:', log.join(', '));
const isSeen = log.filter((event) => event !== 'lost').join() === 'phx_join,charge,phx_join,timeout';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
