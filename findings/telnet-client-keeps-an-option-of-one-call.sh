#!/usr/bin/env bash
# telnet-client 2.2.14: an option that is passed to one `exec()` stays for all later calls.
# Expected: the README lists the options of `exec(data, [options])`, with defaults, so a call without options uses those of `connect()`.
# Seen: after one call with `echoLines: 0`, a call without options begins with the echo of its command.
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
const before = await client.exec('date');
const withEcho = await client.exec('uptime', { echoLines: 0 });
const after = await client.exec('date');
console.log('a call without options:', JSON.stringify(before));
console.log('a call with `echoLines: 0`:', JSON.stringify(withEcho));
console.log('a call without options:', JSON.stringify(after));
const isSeen = before === '1 December\n' && withEcho === 'uptime\n3 days\n' && after === 'date\n1 December\n';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
