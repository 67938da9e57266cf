#!/usr/bin/env bash
# fetch-multipart-graphql 3.3.0: a connection that is lost between two parts calls neither `onError` nor `onComplete`.
# Expected: the README passes `onError` to the sink of an Observable, which therefore ends one way or the other.
# A server that cannot be reached does call `onError`.
# Seen: the error becomes an unhandled rejection, which no caller can catch.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fetch-multipart-graphql@3.3.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import fetchMultipart from 'fetch-multipart-graphql';

setTimeout(() => process.exit(1), 30_000).unref();
const part = (value) => `\r\n---\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(value)}`;
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'multipart/mixed; boundary="-"' });
  response.write(part({ data: 'first' }) + part({ data: 'second' }), () => setTimeout(() => response.destroy(), 500));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

const heard = [];
const start = () =>
  (fetchMultipart.default ?? fetchMultipart)(url, {
    method: 'POST',
    onNext: (values) => heard.push(...values.map(({ data }) => data)),
    onError: () => heard.push('error'),
    onComplete: () => heard.push('complete'),
  });
const unhandled = once(process, 'unhandledRejection');
start();
const [{ message }] = await unhandled;
await delay(1000);
console.log('with a lost connection:', heard.join(), 'and an unhandled rejection:', message);
const ofLost = heard.splice(0).join();
server.close();
await once(server, 'close');
await start();
console.log('without a server:', heard.join());
const isSeen = ofLost === 'first' && heard.join() === 'error';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
