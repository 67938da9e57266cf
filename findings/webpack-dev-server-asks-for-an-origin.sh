#!/usr/bin/env bash
# webpack-dev-server 6.1.0: a proxy with `ws: true` passes a GET of a program, and refuses its WebSocket with 403.
# Expected: a client that is no page, and so sends no `Origin`, reaches the target by both, as through the proxy of Vite.
# Seen: the upgrade needs an `Origin` of the server's own host. The dialer of a test passes with that header added.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund webpack@5.113.0 webpack-dev-server@6.1.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import webpack from 'webpack';
import WebpackDevServer from 'webpack-dev-server';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 60_000).unref();
const target = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
await once(target, 'listening');
const upgrades = new WebSocketServer({ server: target });

writeFileSync('page.js', '');
const compiler = webpack({ mode: 'development', entry: './page.js', stats: 'none', infrastructureLogging: { level: 'none' } });
const proxy = [{ context: ['/api'], target: `http://127.0.0.1:${target.address().port}`, ws: true }];
const front = new WebpackDevServer({ host: '127.0.0.1', port: 0, proxy }, compiler);
await front.start();
const { port } = front.server.address();

/** The status of an upgrade. */
function upgrade(headers) {
  const client = new WebSocket(`ws://127.0.0.1:${port}/api`, { headers });
  return new Promise((resolve) => {
    client.on('open', () => resolve(101));
    client.on('error', (error) => resolve(Number(/\d+$/.exec(error.message)?.[0])));
  });
}

const { status } = await fetch(`http://127.0.0.1:${port}/api`);
const bare = await upgrade({});
const reached = upgrades.clients.size;
const ofPage = await upgrade({ origin: `http://127.0.0.1:${port}` });
console.log(`GET: ${status}, upgrade: ${bare}, upgrade with Origin: ${ofPage}`);
const isSeen = status === 200 && bare === 403 && reached === 0 && ofPage === 101;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
