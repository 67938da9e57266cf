#!/usr/bin/env bash
# simple-jsonrpc-js 1.2.0: a notification is answered with an error if its method throws or is unknown.
# Expected: no answer. JSON-RPC 2.0 says that a server "MUST NOT reply to a Notification"; the README claims full support.
# Seen: the answer has an `error` and no `id`, so it belongs to no request.
# A peer with this package can only log it as an unknown request.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund simple-jsonrpc-js@1.2.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import JsonRpc from 'simple-jsonrpc-js';

setTimeout(() => process.exit(1), 20_000).unref();

const server = new JsonRpc();
const sent = [];
server.toStream = (text) => sent.push(text);
server.on('log', () => 'done');
server.on('check', () => {
  throw new Error('too young');
});

/** The answer to a notification. */
async function answerTo(method) {
  sent.length = 0;
  await server.messageHandler(JSON.stringify({ jsonrpc: '2.0', method, params: [7] }));
  return sent.length === 0 ? undefined : JSON.parse(sent[0]);
}

const fine = await answerTo('log');
const throws = await answerTo('check');
const unknown = await answerTo('missing');
console.log('a method that returns:', fine);
console.log('a method that throws:', throws);
console.log('an unknown method:', unknown);
const isSeen =
  fine === undefined &&
  throws?.error.code === -32603 &&
  unknown?.error.code === -32601 &&
  [throws, unknown].every((answer) => !('id' in answer));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
