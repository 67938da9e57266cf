#!/usr/bin/env bash
# fetch-multipart-graphql 3.3.0: `onComplete` is called without the last part if no line break follows the closing boundary.
# Expected: RFC 2046 asks for no line break behind the closing boundary, nor for one before the first boundary.
# Seen: without the former the last part never arrives, and without the latter the first one. Neither is an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fetch-multipart-graphql@3.3.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import fetchMultipart from 'fetch-multipart-graphql';

setTimeout(() => process.exit(1), 30_000).unref();
const part = (value) => `\r\n---\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(value)}`;
const parts = part({ data: 'first' }) + part({ data: 'last' });
let body;
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'multipart/mixed; boundary="-"' }).end(body);
}).listen(0, '127.0.0.1');
await once(server, 'listening');

/** What a client hears of a response with this body. */
async function heardOf(text) {
  body = text;
  const heard = [];
  await new Promise((resolve) =>
    (fetchMultipart.default ?? fetchMultipart)(`http://127.0.0.1:${server.address().port}`, {
      method: 'POST',
      onNext: (values) => heard.push(...values.map(({ data }) => data)),
      onError: ({ message }) => resolve(heard.push(message)),
      onComplete: () => resolve(heard.push('complete')),
    }),
  );
  return heard.join(', ');
}
const withBoth = await heardOf(`${parts}\r\n-----\r\n`);
const withoutEnd = await heardOf(`${parts}\r\n-----`);
const withoutStart = await heardOf(`${parts.trimStart()}\r\n-----\r\n`);
console.log('with both line breaks:', withBoth);
console.log('without the one at the end:', withoutEnd);
console.log('without the one at the start:', withoutStart);
const isSeen = withBoth === 'first, last, complete' && withoutEnd === 'first, complete' && withoutStart === 'last, complete';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
