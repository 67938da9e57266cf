#!/usr/bin/env bash
# typed-rpc 6.1.2: a call of a method that returns nothing fails, although the method has run.
# Expected: the call resolves with `undefined`. JSON-RPC 2.0 says that a response has a `result` on success.
# Seen: the server's response object has `result: undefined`, so its JSON has neither `result` nor `error`. The client throws "Not a JSON-RPC 2.0 response".
# A caller that tries again after an error does the work twice. A method that returns `null` is fine.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund typed-rpc@6.1.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { createServer } from 'node:http';
import { rpcClient } from 'typed-rpc';
import { handleRpc } from 'typed-rpc/server';

setTimeout(() => process.exit(1), 20_000).unref();

let saved = 0;
const service = {
  save() {
    saved += 1;
  },
  saveAndReturnNull() {
    saved += 1;
    return null;
  },
};
let body;
const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  body = JSON.stringify(await handleRpc(JSON.parse(text), service));
  response.setHeader('Content-Type', 'application/json').end(body);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const client = rpcClient(`http://127.0.0.1:${server.address().port}`);

const ofNull = await client.saveAndReturnNull().catch(({ message }) => message);
console.log('a method that returns null:', ofNull);
const ofNothing = await client.save().catch(({ message }) => message);
const keys = Object.keys(JSON.parse(body)).join();
console.log('a method that returns nothing:', ofNothing);
console.log('keys of its response:', keys);
console.log('calls that have run:', saved);
const isSeen = ofNull === null && ofNothing === 'Not a JSON-RPC 2.0 response' && keys === 'jsonrpc,id' && saved === 2;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
