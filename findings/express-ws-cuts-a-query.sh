#!/usr/bin/env bash
# express-ws 5.0.2, express 5.3.0: a WebSocket route gets a query only as far as its second question mark.
# Expected: `req.query` of a WebSocket route is that of a GET of the same URL. A "?" inside a query needs no escape.
# Seen: what follows the second "?" is lost, also in `req.url` and `req.originalUrl`. So a token behind a URL never arrives.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --legacy-peer-deps express-ws@5.0.2 express@5.3.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import express from 'express';
import expressWs from 'express-ws';
import { WebSocket } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const { app } = expressWs(express());
app.get('/chat', ({ query }, response) => response.json(query));
app.ws('/chat', (socket, { query }) => socket.send(JSON.stringify(query)));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

const address = `127.0.0.1:${server.address().port}/chat?back=/shop?page=7&token=abc`;
const overHttp = await (await fetch(`http://${address}`)).text();
const [overWebSocket] = await once(new WebSocket(`ws://${address}`), 'message');
console.log('sent: ?back=/shop?page=7&token=abc');
console.log('req.query of app.get():', overHttp);
console.log('req.query of app.ws():', `${overWebSocket}`);
const isSeen = overHttp === '{"back":"/shop?page=7","token":"abc"}' && `${overWebSocket}` === '{"back":"/shop"}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
