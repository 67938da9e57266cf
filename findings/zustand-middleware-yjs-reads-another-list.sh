#!/usr/bin/env bash
# zustand-middleware-yjs 1.3.1, zustand 4.5.7, yjs 13.6.33: the writer of a list reads another list than it has set.
# Expected: the list that `set()` got, in the store of its writer and in every other one.
# Seen: after `set({ colours: ['red', 'red', 'blue'] })` its own store, and the array that was set, hold red, blue, blue.
# The document and the other store are right. A list of three different colours arrives everywhere.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund zustand-middleware-yjs@1.3.1 zustand@4.5.7 yjs@13.6.33 >/dev/null
cat >program.mjs <<'PROGRAM'
import * as Y from 'yjs';
import middleware from 'zustand-middleware-yjs';
import { createStore } from 'zustand/vanilla';

const yjs = middleware.default ?? middleware;
const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

/** What both stores and the document hold, once the first store has set these colours. */
async function set(colours) {
  const sent = JSON.stringify(colours);
  const [mine, theirs] = [new Y.Doc(), new Y.Doc()];
  mine.on('update', (update) => Y.applyUpdate(theirs, update));
  theirs.on('update', (update) => Y.applyUpdate(mine, update));
  const store = createStore(yjs(mine, 'shared', (set) => ({ colours: [], paint: (colours) => set({ colours }) })));
  const other = createStore(yjs(theirs, 'shared', () => ({})));
  await settle();
  store.getState().paint(colours);
  await settle();
  const [own, document, remote] = [store.getState(), mine.getMap('shared').toJSON(), other.getState()].map((state) =>
    JSON.stringify(state.colours),
  );
  console.log('set:', sent, 'own store:', own, 'document:', document, 'other store:', remote);
  return document === sent && remote === sent ? own : 'lost';
}

const seen = [await set(['red', 'red', 'blue']), await set([{ hue: 0 }, { hue: 0 }, { hue: 240 }]), await set(['red', 'green', 'blue'])];
const isSeen = seen.join(' ') === '["red","blue","blue"] [{"hue":0},{"hue":240},{"hue":240}] ["red","green","blue"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
