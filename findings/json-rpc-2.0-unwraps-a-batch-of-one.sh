#!/usr/bin/env bash
# json-rpc-2.0 1.8.1: the server answers a batch of one request with an object instead of an array.
# Expected: an array with one response. JSON-RPC 2.0 answers the batch [1] with an array of one error, in its own examples.
# Seen: jayson's client calls back with a list of responses for two requests. For a batch of one it passes a bare result, and no list.
# So a program that collects its calls into batches works until only one call is due.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts json-rpc-2.0@1.8.1 jayson@5.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import Client from 'jayson/lib/client/browser/index.js';
import { JSONRPCServer } from 'json-rpc-2.0';

setTimeout(() => process.exit(1), 20_000).unref();
const server = new JSONRPCServer();
server.addMethod('double', ([value]) => value * 2);
const client = new Client((request, callback) => {
  server.receiveJSON(request).then((response) => callback(null, JSON.stringify(response)), callback);
});

/** Passes jayson's client a batch of these values, and returns the arguments of its callback. */
function batch(...values) {
  const requests = values.map((value, i) => client.request('double', [value], i, false));
  return new Promise((resolve, reject) => {
    client.request(requests, (error, errors, responses) => (error ? reject(error) : resolve({ errors, responses })));
  });
}

const two = await batch(20, 21);
const one = await batch(21);
const example = await server.receiveJSON('[1]');
console.log('a batch of two:', two);
console.log('a batch of one:', one);
console.log('the batch [1] of the specification:', example);
const isSeen = two.responses.length === 2 && one.errors === undefined && one.responses === 42 && example.error.code === -32600;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
