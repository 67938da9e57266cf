#!/usr/bin/env bash
# webstomp-client 1.2.6 beside @stomp/stompjs 7.5.0: a URL in a header arrives as `https\c//example.org`.
# Expected: both clients negotiate STOMP 1.2, in which a header's colon is sent as `\c` and read as a colon again.
# Seen: stompjs escapes the colon, the broker passes the header on, and webstomp-client leaves it escaped.
# In its own headers webstomp-client escapes nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund webstomp-client@1.2.6 @stomp/stompjs@7.5.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@stomp/stompjs';
import webstomp from 'webstomp-client';
import { WebSocket, WebSocketServer } from 'ws';

globalThis.WebSocket = WebSocket;
setTimeout(() => process.exit(1), 20_000).unref();
const broker = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'v12.stomp' });
await once(broker, 'listening');
const url = `ws://127.0.0.1:${broker.address().port}`;
const subscribers = [];
const sent = [];
broker.on('connection', (socket) => {
  socket.on('message', (data) => {
    const text = String(data);
    if (text.startsWith('CONNECT')) socket.send('CONNECTED\nversion:1.2\n\n\0');
    if (text.startsWith('SUBSCRIBE')) subscribers.push({ socket, id: /^id:(.*)$/m.exec(text)[1] });
    if (!text.startsWith('SEND')) return;
    sent.push(/^link:.*$/m.exec(text)[0]);
    for (const { socket, id } of subscribers) socket.send(text.replace('SEND\n', `MESSAGE\nsubscription:${id}\nmessage-id:1\n`));
  });
});

const stompjs = new Client({ brokerURL: url });
await new Promise((resolve) => {
  stompjs.onConnect = resolve;
  stompjs.activate();
});
const other = webstomp.over(new WebSocket(url, webstomp.VERSIONS.supportedProtocols()), { debug: false, heartbeat: false });
await new Promise((resolve, reject) => other.connect({}, resolve, reject));
const link = (client) => new Promise((resolve) => client.subscribe('/news', ({ headers }) => resolve(headers.link)));
const links = Promise.all([link(stompjs), link(other)]);
while (subscribers.length < 2) await delay(10);
stompjs.publish({ destination: '/news', body: 'new', headers: { link: 'https://example.org' } });
const [ofStompjs, ofWebstomp] = await links;
other.send('/news', 'new', { link: 'https://example.org' });
while (sent.length < 2) await delay(10);
console.log('the version that webstomp-client speaks:', other.version);
console.log('stompjs sends:', sent[0]);
console.log('stompjs reads it as:', ofStompjs);
console.log('webstomp-client reads it as:', ofWebstomp);
console.log('webstomp-client sends:', sent[1]);
const isSeen =
  other.version === '1.2' &&
  sent.join() === 'link:https\\c//example.org,link:https://example.org' &&
  ofStompjs === 'https://example.org' &&
  ofWebstomp === 'https\\c//example.org';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
