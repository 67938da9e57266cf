#!/usr/bin/env bash
# y-websocket 3.1.0, yjs 13.6.33: two providers in one Node process exchange changes although neither has reached its server.
# Expected: while the server is away the documents differ, as the README's "cross-tab communication" is one of a browser's tabs.
# Seen: Node has a BroadcastChannel too, so the second document has the change. A test of two offline users tests nothing; `disableBc` does.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund y-websocket@3.1.0 yjs@13.6.33 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';

setTimeout(() => process.exit(1), 20_000).unref();

/** What the second user has of the first one's change, while no server answers. */
async function seenBySecond(options) {
  const [first, second] = [new Y.Doc(), new Y.Doc()];
  const providers = [first, second].map(
    (doc) => new WebsocketProvider('ws://127.0.0.1:1', 'room', doc, { WebSocketPolyfill: WebSocket, ...options }),
  );
  first.getMap('order').set('seat', '12A');
  for (let waits = 0; waits < 30 && second.getMap('order').size === 0; waits++) await delay(50);
  const isOnline = providers.some(({ wsconnected }) => wsconnected);
  for (const provider of providers) provider.destroy();
  return { isOnline, has: second.getMap('order').toJSON() };
}

const plain = await seenBySecond({});
const disabled = await seenBySecond({ disableBc: true });
console.log('by default:', plain);
console.log('with disableBc:', disabled);
const isSeen = !plain.isOnline && plain.has.seat === '12A' && disabled.has.seat === undefined;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
