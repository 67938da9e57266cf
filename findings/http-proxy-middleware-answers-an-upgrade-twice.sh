#!/usr/bin/env bash
# http-proxy-middleware 4.2.2, express 5.3.0: two proxies with `ws: true`, mounted at `/a` and `/b`, both answer each upgrade.
# Expected: a WebSocket to `/b` reaches the target of `/b`, as a GET does.
# Seen: both targets get the upgrade, with the path that its mount removes from a GET. The client reads one answer, and the other one as frames.
# A `pathFilter` at each proxy in place of the mount keeps them apart.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund express@5.3.0 http-proxy-middleware@4.2.2 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const upgrades = [];

async function target(name) {
  const http = createServer((request, response) => response.end(`${name} ${request.url}`)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  new WebSocketServer({ server: http }).on('connection', (_socket, request) => upgrades.push(`${name} ${request.url}`));
  return `http://127.0.0.1:${http.address().port}`;
}

async function outcomes(ending, mount) {
  const app = express();
  for (const path of ['/a', '/b']) mount(app, path, await target(path));
  const front = app.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const at = `127.0.0.1:${front.address().port}`;
  // A proxy listens to upgrades from its first request on.
  const pages = [];
  for (const path of ['/a', '/b']) pages.push(await (await fetch(`http://${at}${path}/x`)).text());
  upgrades.length = 0;
  const client = new WebSocket(`ws://${at}/b/x`);
  client.on('open', () => client.ping());
  client.on('error', () => undefined);
  const [result] = await once(client, ending);
  const outcome = ending === 'error' ? result.message : ending;
  return { pages, upgrades: [...upgrades].sort(), outcome };
}

const mounted = await outcomes('error', (app, path, to) => app.use(path, createProxyMiddleware({ target: to, ws: true })));
const filtered = await outcomes('pong', (app, path, to) => app.use(createProxyMiddleware({ target: to, ws: true, pathFilter: path })));
console.log('mounted:', mounted);
console.log('filtered:', filtered);
const isSeen =
  mounted.pages.join() === '/a /x,/b /x' &&
  mounted.upgrades.join() === '/a /b/x,/b /b/x' &&
  /Invalid WebSocket frame/.test(mounted.outcome) &&
  filtered.upgrades.join() === '/b /b/x' &&
  filtered.outcome === 'pong';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
