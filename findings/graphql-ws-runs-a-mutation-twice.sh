#!/usr/bin/env bash
# graphql-ws 6.4.2: with its default options, the client sends a running mutation again when its connection is lost.
# Expected: the caller gets an error, because the first run may have taken effect. The caller decides about a second one.
# Seen: the client dials again and repeats every operation. The server runs the mutation twice, and the caller sees one clean result.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund graphql-ws@6.4.2 graphql@16.11.0 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { buildSchema } from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');

let payments = 0;
function pay() {
  payments += 1;
  // The first connection breaks after the work and before the answer.
  if (payments === 1) server.clients.forEach((socket) => socket.terminate());
  return payments;
}
useServer({ schema: buildSchema('type Query { none: Int } type Mutation { pay: Int }'), roots: { mutation: { pay } } }, server);

const seen = [];
const client = createClient({ url: `ws://127.0.0.1:${server.address().port}`, webSocketImpl: WebSocket });
await new Promise((resolve) => {
  client.subscribe(
    { query: 'mutation { pay }' },
    {
      next: ({ data }) => seen.push(`next ${data.pay}`),
      error: () => resolve(seen.push('error')),
      complete: () => resolve(seen.push('complete')),
    },
  );
});
console.log(`payments: ${payments}; the caller sees: ${seen.join(', ')}`);
const isSeen = payments === 2 && seen.join() === 'next 2,complete';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
