#!/usr/bin/env bash
# react-use-websocket 4.13.0, react 19.3.1: `queryParams` are added behind a second "?" if the URL's first parameter has a hyphen or an empty value.
# Expected: "stringified query params" are appended, as the README says, so that the server reads all of them, as from URLSearchParams.
# Seen: the first parameter swallows them. Values are not escaped either, so an "&" ends one.
# So a server finds no token behind `?room-id=5`, and finds one behind `?room=5`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund react-use-websocket@4.13.0 react@19.3.1 react-dom@19.3.1 react-test-renderer@19.3.1 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createElement } from 'react';
import { act, create } from 'react-test-renderer';
import hooks from 'react-use-websocket';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const { default: useWebSocket } = hooks;
globalThis.WebSocket = WebSocket;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
// The renderer says that it is deprecated.
console.error = () => undefined;

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');

/** The parameters that a server reads of a URL with a query and of `queryParams`. */
async function paramsOf(query, queryParams) {
  function Room() {
    useWebSocket(`ws://127.0.0.1:${server.address().port}/${query}`, { queryParams });
    return null;
  }
  const connected = once(server, 'connection');
  let root;
  await act(async () => {
    root = create(createElement(Room));
  });
  const [, { url }] = await connected;
  await act(async () => root.unmount());
  return [...new URL(url, 'ws://server').searchParams].map((pair) => pair.join(': ')).join(', ');
}

const plain = await paramsOf('?room=5', { token: 'abc' });
const hyphen = await paramsOf('?room-id=5', { token: 'abc' });
const empty = await paramsOf('?room=', { token: 'abc' });
const escaped = await paramsOf('', { team: 'R&D', token: 'abc' });
console.log('?room=5:', plain);
console.log('?room-id=5:', hyphen);
console.log('?room=:', empty);
console.log('a team named R&D:', escaped);
const isSeen =
  plain === 'room: 5, token: abc' && hyphen === 'room-id: 5?token=abc' && empty === 'room: ?token=abc' && escaped === 'team: R, D: , token: abc';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
