#!/usr/bin/env bash
# @orpc/client 1.16.1: NaN survives a call, and Infinity becomes null.
# Expected: its page of native types lists numbers, including NaN. So Infinity arrives too, or is refused.
# Seen: an echo of [NaN, Infinity, -Infinity] is [NaN, null, null].
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @orpc/client@1.16.1 @orpc/server@1.16.1 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { os } from '@orpc/server';
import { RPCHandler } from '@orpc/server/ws';
import WebSocket, { WebSocketServer } from 'ws';

const router = { echo: os.handler(({ input }) => input) };
const handler = new RPCHandler(router);
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await new Promise((resolve) => server.on('listening', resolve));
server.on('connection', (socket) => handler.upgrade(socket, { context: {} }));
const websocket = new WebSocket(`ws://127.0.0.1:${server.address().port}/`);
const client = createORPCClient(new RPCLink({ websocket }));
const numbers = await client.echo([NaN, Infinity, -Infinity]);
console.log('[NaN, Infinity, -Infinity]:', numbers);
const isSeen = Number.isNaN(numbers[0]) && numbers[1] === null && numbers[2] === null;
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
