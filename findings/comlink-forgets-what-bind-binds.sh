#!/usr/bin/env bash
# comlink 4.4.2: `bind()` of a remote function drops the arguments that it binds.
# Expected: `api.move.bind(null, 'left')` calls `move('left', …)`. The README itself binds a remote method for `addEventListener`.
# Seen: the proxy answers `bind` with itself, so `bound(10)` calls `move(10)`: each argument moves one place forward, and nothing throws.
# `call()` and `apply()` keep their arguments, and so does an arrow function.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund comlink@4.4.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { MessageChannel } from 'node:worker_threads';
import { expose, wrap } from 'comlink';
import endpoint from 'comlink/dist/esm/node-adapter.mjs';

setTimeout(() => process.exit(1), 20_000).unref();
const { port1, port2 } = new MessageChannel();
const remote = { move: (...received) => received };
expose(remote, endpoint(port1));
const api = wrap(endpoint(port2));

const local = remote.move.bind(null, 'left')(10);
const bound = await api.move.bind(null, 'left')(10);
const called = await api.move.call(null, 'left', 10);
console.log('a local function receives:', local);
console.log('the remote function receives, bound:', bound);
console.log('the remote function receives, by call():', called);
const isSeen = local.join() === 'left,10' && bound.join() === '10' && called.join() === 'left,10';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
