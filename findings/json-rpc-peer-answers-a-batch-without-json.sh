#!/usr/bin/env bash
# json-rpc-peer 0.17.0: `exec()` answers a batch with a JavaScript array of texts, but a single call with one text.
# Expected: one text with a JSON array, as JSON-RPC 2.0 demands. The README passes what `exec()` returns to `response.end()`.
# Seen: `String()` of the answer is no JSON. JSON-RPC leaves a batch of notifications unanswered; `exec()` answers with an empty array.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-rpc-peer@0.17.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Peer } from 'json-rpc-peer';

setTimeout(() => process.exit(1), 20_000).unref();
const peer = new Peer(({ params: [a, b] }) => a + b);
const call = (id) => ({ jsonrpc: '2.0', id, method: 'add', params: [id, 1] });
const notification = { jsonrpc: '2.0', method: 'add', params: [1, 2] };

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const single = await peer.exec(JSON.stringify(call(1)));
const batch = await peer.exec(JSON.stringify([call(1), call(2)]));
const silent = await peer.exec(JSON.stringify(notification));
const silentBatch = await peer.exec(JSON.stringify([notification, notification]));
console.log('one call:', single);
console.log('a batch of two:', batch);
console.log('one notification:', silent);
console.log('a batch of notifications:', silentBatch);
const isSeen =
  isJson(single) && Array.isArray(batch) && !isJson(String(batch)) && silent === undefined && JSON.stringify(silentBatch) === '[]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
