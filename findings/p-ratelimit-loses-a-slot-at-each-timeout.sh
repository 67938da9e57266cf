#!/usr/bin/env bash
# p-ratelimit 1.0.1: each call that exceeds `maxDelay` takes a slot of `concurrency` for good.
# Expected: a call that waited too long is rejected, and later calls run as soon as a slot is free.
# Seen: the rejected call stays in the queue. Once its turn comes it takes a slot, does not run, and never gives the slot back.
# So with one slot, a single timeout makes the limiter reject every later call.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund p-ratelimit@1.0.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { pRateLimit } from 'p-ratelimit';

setTimeout(() => process.exit(1), 20_000).unref();

/** The outcomes of calls: a slow one, perhaps one that waits for it, and two after both. */
async function outcomesOf(isWaiting) {
  const limit = pRateLimit({ concurrency: 1, maxDelay: 200 });
  const outcomes = [];
  const call = (name, work) =>
    limit(async () => work).then(
      () => outcomes.push(`${name} runs`),
      (error) => outcomes.push(`${name}: ${error.constructor.name}`),
    );
  let release;
  const slow = call('slow', new Promise((resolve) => (release = resolve)));
  if (isWaiting) await call('waiting');
  release();
  await slow;
  await delay(200);
  await call('third');
  await call('fourth');
  return outcomes.join(', ');
}

const alone = await outcomesOf(false);
const withTimeout = await outcomesOf(true);
console.log('without a timeout:', alone);
console.log('with a timeout:', withTimeout);
const error = 'RateLimitTimeoutError';
const isSeen =
  alone === 'slow runs, third runs, fourth runs' && withTimeout === `waiting: ${error}, slow runs, third: ${error}, fourth: ${error}`;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
