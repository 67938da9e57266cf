#!/usr/bin/env bash
# @trpc/client 11.25.2: `unsubscribe()` of a subscription over `wsLink` calls `onComplete`, before it returns, and not `onStopped`.
# Expected: `onComplete` says that the server has completed the subscription, and `onStopped` that the caller has stopped it.
# Seen: the other way round. `onStopped` runs only where the server has completed, just ahead of `onComplete`.
# So a caller that stops early, and counts on `onComplete`, takes half of the values for all of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @trpc/client@11.25.2 @trpc/server@11.25.2 typescript@5.9.3 ws@8.23.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { WebSocket, WebSocketServer } from 'ws';

setTimeout(() => process.exit(1), 20_000).unref();
const t = initTRPC.create();
const router = t.router({
  rows: t.procedure.input((last) => last).subscription(async function* rows({ input, signal }) {
    for (let n = 0; n < input && !signal.aborted; n++) {
      yield n;
      await delay(10);
    }
  }),
});
const wss = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(wss, 'listening');
applyWSSHandler({ wss, router });
const socket = createWSClient({ url: `ws://127.0.0.1:${wss.address().port}`, WebSocket });
const client = createTRPCClient({ links: [wsLink({ client: socket })] });

/** The callbacks of a subscription of some rows, which is stopped after two of them if `isStopped`. */
async function callbacksOf(last, isStopped) {
  const called = [];
  await new Promise((resolve) => {
    const subscription = client.rows.subscribe(last, {
      onData: (n) => {
        called.push(n);
        if (!isStopped || n < 1) return;
        setImmediate(() => {
          subscription.unsubscribe();
          called.push('unsubscribe() returns');
          setTimeout(resolve, 100);
        });
      },
      onComplete: () => {
        called.push('onComplete');
        if (!isStopped) resolve();
      },
      onStopped: () => called.push('onStopped'),
    });
  });
  return called;
}

const ended = await callbacksOf(2, false);
const stopped = await callbacksOf(1_000, true);
console.log('the server completes:', ended.join(', '));
console.log('the caller unsubscribes:', stopped.join(', '));
const isSeen = ended.join() === '0,1,onStopped,onComplete' && stopped.join() === '0,1,onComplete,unsubscribe() returns';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
