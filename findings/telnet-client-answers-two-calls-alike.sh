#!/usr/bin/env bash
# telnet-client 2.2.14: two calls of `exec()` at a time are answered with one text.
# Expected: each promise of `Promise.all([exec('date'), exec('uptime')])` resolves with its own answer, or a call is refused.
# Seen: the server answers both commands in order, and both promises resolve with the same text.
# That text holds both answers if they arrive together, and otherwise the first.
# Calls one after the other resolve with their answers.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund telnet-client@2.2.14 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Telnet } from 'telnet-client';

setTimeout(() => process.exit(1), 20_000).unref();
const answers = { date: '1 December', uptime: '3 days' };
const server = createServer((socket) => {
  let unread = '';
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    const commands = (unread + bytes).split('\n');
    unread = commands.pop();
    for (const command of commands) socket.write(`${command}\r\n${answers[command]}\r\n/ # `);
  });
  socket.write('/ # ');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const client = new Telnet();
await client.connect({ host: '127.0.0.1', port: server.address().port, shellPrompt: '/ # ', timeout: 15_000, execTimeout: 15_000 });
const inTurn = [await client.exec('date'), await client.exec('uptime')];
const atOnce = await Promise.all([client.exec('date'), client.exec('uptime')]);
console.log('one after the other:', inTurn);
console.log('two at a time:', atOnce);
const isSeen = inTurn.join('') === '1 December\n3 days\n' && atOnce[0] === atOnce[1] && atOnce[0].startsWith('1 December\n');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
