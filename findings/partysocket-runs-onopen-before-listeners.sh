#!/usr/bin/env bash
# partysocket 1.3.0: what was sent before `open` leaves first, then the message of `onopen`, and listeners come last.
# Expected: as at every EventTarget, handlers run in the order in which they were set: the listener was added first.
# Seen: 'queued', 'onopen', 'listener'. A listener that authenticates first finds two messages ahead of its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund partysocket@1.3.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { WebSocket as PartyWebSocket } from 'partysocket';
import ws, { WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await new Promise((resolve) => server.on('listening', resolve));
const arrived = [];
const done = new Promise((resolve) => {
  server.on('connection', (socket) =>
    socket.on('message', (data) => {
      arrived.push(data.toString());
      if (arrived.length === 3) resolve();
    }),
  );
});
const socket = new PartyWebSocket(`ws://127.0.0.1:${server.address().port}/`, [], { WebSocket: ws });
socket.addEventListener('open', () => socket.send('listener'));
socket.onopen = () => socket.send('onopen');
socket.send('queued');
await done;
console.log(arrived.join(', '));
const isSeen = arrived.join() === 'queued,onopen,listener';
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
