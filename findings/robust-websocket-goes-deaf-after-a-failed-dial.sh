#!/usr/bin/env bash
# robust-websocket 1.0.0: a client whose first dial fails, and whose second succeeds, stops heeding the page's `offline` event.
# Expected: `timeout` is for a dial under way. An open client closes when the page goes offline, to connect again once it is back.
# Seen: the time-out of the failed dial keeps running. It emits `timeout` for the open connection and removes the listener of `offline`.
# With the defaults, that is 4 s after the failed dial, and 1 s after the next one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund robust-websocket@1.0.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
globalThis.WebSocket = WebSocket;
globalThis.navigator ??= {};
const page = new EventTarget();
globalThis.addEventListener = page.addEventListener.bind(page);
globalThis.removeEventListener = page.removeEventListener.bind(page);
const { default: RobustWebSocket } = await import('robust-websocket');

/** The events of a client, the first dials of which fail, until its page has gone offline. */
async function eventsAfter(failures) {
  let dials = 0;
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, verifyClient: () => ++dials > failures });
  await once(server, 'listening');
  const client = new RobustWebSocket(`ws://127.0.0.1:${server.address().port}`, null, {
    timeout: 3_000,
    shouldReconnect: () => 10,
  });
  const events = [];
  for (const type of ['open', 'timeout', 'close']) client.addEventListener(type, () => events.push(type));
  client.addEventListener('error', () => {});
  while (!events.includes('open')) await delay(10);
  await delay(4_000);
  page.dispatchEvent(new Event('offline'));
  await delay(500);
  client.close();
  server.close();
  return events.slice(events.indexOf('open'));
}

const without = await eventsAfter(0);
const after = await eventsAfter(1);
console.log('from `open` on, if the first dial succeeds:', without);
console.log('from `open` on, if the first dial fails:', after);
const isSeen = without.join() === 'open,close' && after.join() === 'open,timeout';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
