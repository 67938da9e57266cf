#!/usr/bin/env bash
# sb-promise-queue 2.1.1: of several calls of `waitTillIdle()`, every second one does not resolve when the queue is idle.
# Expected: each of them resolves once the last function has ended. A call of an idle queue resolves at once.
# Seen: a waiter removes itself from the list while the queue walks that list, so the queue skips the next waiter.
# The skipped ones resolve at the end of some later work, if there is any: of four waiters, two and then one more.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund sb-promise-queue@2.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { PromiseQueue } from 'sb-promise-queue';

setTimeout(() => process.exit(1), 20_000).unref();
const queue = new PromiseQueue({ concurrency: 1 });
const resolved = [];

const upload = queue.add(() => delay(50));
for (const name of ['A', 'B', 'C', 'D']) queue.waitTillIdle().then(() => resolved.push(name));
await upload;
await delay(500);
const afterFirst = resolved.join();
await queue.waitTillIdle();
await queue.add(() => delay(50));
await delay(500);
const afterSecond = resolved.join();
console.log('resolved after the first upload:', afterFirst);
console.log('resolved after the second upload:', afterSecond);
const isSeen = afterFirst === 'A,C' && afterSecond === 'A,C,B';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
