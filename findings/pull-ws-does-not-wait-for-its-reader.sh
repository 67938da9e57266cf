#!/usr/bin/env bash
# pull-ws 3.3.2, pull-stream 3.7.0: a message is delivered while the reader still works on the last one, and overtakes it.
# Expected: one message for each read. The specification of pull-streams says: "If a sink needs the source to slow down, it just waits until it reads the source again."
# Seen: the source calls the callback of one read again for each message, so `asyncMap()` works on three at a time and changes their order.
# From an array they come one by one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pull-ws@3.3.2 pull-stream@3.7.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { WebSocketServer } from 'ws';
import pull from 'pull-stream';
import connect from 'pull-ws/client.js';

setTimeout(() => process.exit(1), 20_000).unref();
const names = ['Ann', 'Bob', 'Charlie'];
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
server.on('connection', (socket) => {
  for (const name of names) socket.send(name);
});

/** The order in which a sink gets three names, and the number of them that were in work at a time. */
const read = (source) =>
  new Promise((resolve) => {
    const got = [];
    let active = 0;
    let most = 0;
    const work = (name, done) => {
      active += 1;
      most = Math.max(most, active);
      setTimeout(
        () => {
          active -= 1;
          done(null, String(name));
        },
        name === 'Ann' ? 500 : 50,
      );
    };
    const take = (name) => {
      got.push(name);
      if (got.length === 3) resolve({ order: got.join(), most });
    };
    pull(source, pull.asyncMap(work), pull.drain(take));
  });

const ofArray = await read(pull.values(names));
const ofSocket = await read(connect(`ws://127.0.0.1:${server.address().port}`).source);
console.log('from an array:', ofArray);
console.log('from a WebSocket:', ofSocket);
const isSeen = ofArray.order === 'Ann,Bob,Charlie' && ofArray.most === 1 && ofSocket.order !== 'Ann,Bob,Charlie' && ofSocket.most === 3;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
