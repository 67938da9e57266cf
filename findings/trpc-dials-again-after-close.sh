#!/usr/bin/env bash
# @trpc/client 11.25.2: a query after `close()` of the WebSocket client opens a new connection, and that one stays open.
# Expected: a closed client refuses the query, as a closed WebSocket refuses `send()`.
# Seen: the query succeeds. So one late call revives the connection that a logout has closed.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @trpc/client@11.25.2 @trpc/server@11.25.2 typescript@5.9.3 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const t = initTRPC.create();
const router = t.router({ greet: t.procedure.query(() => 'hello') });
const wss = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(wss, 'listening');
applyWSSHandler({ wss, router });

const connected = once(wss, 'connection');
const socket = createWSClient({ url: `ws://127.0.0.1:${wss.address().port}`, WebSocket });
const client = createTRPCClient({ links: [wsLink({ client: socket })] });
await client.greet.query();
const [first] = await connected;
const closed = once(first, 'close');
await socket.close();
await closed;
const before = wss.clients.size;
const answer = await client.greet.query().catch((error) => error.message);
console.log(`open after close(): ${before}; query: ${answer}; open after it: ${wss.clients.size}`);
const isSeen = before === 0 && answer === 'hello' && wss.clients.size === 1;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
