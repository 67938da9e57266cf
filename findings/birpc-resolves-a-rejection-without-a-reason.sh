#!/usr/bin/env bash
# birpc 4.2.0: a remote function that rejects without a reason resolves at its caller.
# Expected: `Promise.reject()`, `throw null` and `throw ''` reject the call, as they do in one process. The README has no word on errors.
# Seen: the answer carries the reason, and the caller takes a falsy reason for none. So a refused save looks like one that succeeded.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund birpc@4.2.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { MessageChannel } from 'node:worker_threads';
import { createBirpc } from 'birpc';

setTimeout(() => process.exit(1), 20_000).unref();
const { port1, port2 } = new MessageChannel();
const channel = (port) => ({ post: (data) => port.postMessage(data), on: (listener) => port.on('message', listener) });
const reasons = { nothing: undefined, null: null, 'an empty text': '', zero: 0, 'an error': new Error('disk full') };
createBirpc({ save: (name) => Promise.reject(reasons[name]) }, channel(port1));
const remote = createBirpc({}, channel(port2));

const seen = [];
for (const name of Object.keys(reasons)) {
  const outcome = await remote.save(name).then(
    () => 'resolved',
    () => 'rejected',
  );
  console.log(`rejected with ${name}: ${outcome}`);
  seen.push(outcome);
}
const isSeen = seen.join() === 'resolved,resolved,resolved,resolved,rejected';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
