#!/usr/bin/env bash
# noice-json-rpc 1.2.0: a method that returns `false`, 0 or '' is answered with the result {}.
# Expected: the value that the method has returned, as it is for `true`, 1 and 'a'.
# Seen: its server sends {} in place of each falsy value, so a client takes a `false` for true. It never answers a request with the id 0, which JSON-RPC allows.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund noice-json-rpc@1.2.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from 'noice-json-rpc';

setTimeout(() => process.exit(1), 20_000).unref();
const answers = [];
const [sockets, socket] = [new EventEmitter(), new EventEmitter()];
socket.send = (text) => answers.push(JSON.parse(text));
const server = new Server(sockets);
server.expose('echo', ([value]) => value);
sockets.emit('connection', socket);
const sent = [true, 1, 'a', false, 0, '', null];
for (const [i, value] of sent.entries())
  socket.emit('message', JSON.stringify({ jsonrpc: '2.0', id: i + 1, method: 'echo', params: [value] }));
socket.emit('message', JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'echo', params: ['zero'] }));
await delay(500);
for (const { id, result } of answers) console.log(sent[id - 1], 'is answered with', result);
const isSeen = JSON.stringify(answers.map(({ result }) => result)) === '[true,1,"a",{},{},{},{}]' && answers.every(({ id }) => id !== 0);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
