#!/usr/bin/env bash
# sse-channel 4.0.2: `disconnect` is emitted more than once for a client whose response the server ends.
# Expected: once for each client, as for one that goes away by itself. The README: "When a client closes the connection for any reason".
# Seen: the end of the response and the ends of the request each emit it, so a count of users that `disconnect` lowers falls below zero.
# `getConnectionCount()` stays right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund sse-channel@4.0.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import SseChannel from 'sse-channel';

setTimeout(() => process.exit(1), 20_000).unref();
const channel = new SseChannel();
let users = 0;
let disconnects = 0;
channel.on('connect', () => {
  users += 1;
});
channel.on('disconnect', () => {
  users -= 1;
  disconnects += 1;
});
let response;
const server = http.createServer((req, res) => {
  response = res;
  channel.addClient(req, res);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

/** What the channel says once one client has come and gone. */
async function outcome(leave) {
  [users, disconnects] = [0, 0];
  const request = http.get({ host: '127.0.0.1', port: server.address().port, agent: false });
  const [incoming] = await once(request, 'response');
  const closed = once(response, 'close');
  incoming.on('error', () => {}).resume();
  leave(request);
  await closed;
  await delay(300);
  return { disconnects, users, connections: channel.getConnectionCount() };
}

const byClient = await outcome((request) => request.destroy());
const byServer = await outcome(() => response.end());
console.log('the client goes away:', byClient);
console.log('the server ends its response:', byServer);
channel.close();
const isSeen =
  JSON.stringify(byClient) === '{"disconnects":1,"users":0,"connections":0}' &&
  byServer.disconnects > 1 &&
  byServer.users < 0 &&
  byServer.connections === 0;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
