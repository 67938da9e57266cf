#!/usr/bin/env bash
# async-lock 1.5.0: once a function has exceeded its `maxExecutionTime`, two later functions hold the lock at the same time.
# Expected: the lock passes to the next function after the time-out, and each later one waits for the one before it.
# Seen: the lock passes on a second time when the late function ends. So a third function starts while the second one runs, and a fourth while the third runs.
# Neither of them has exceeded a limit.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund async-lock@1.5.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import AsyncLock from 'async-lock';

setTimeout(() => process.exit(1), 20_000).unref();
const lock = new AsyncLock();
const ends = {};
const running = new Set();
const log = [];
/** Notes an event, and which functions run after it. */
const note = (event) => log.push(`${event}: ${[...running].join(' and ') || 'nobody'}`);

/** Queues a function that runs until its end is called. */
function run(name, options) {
  const result = lock.acquire(
    'account',
    async () => {
      running.add(name);
      note(`${name} starts`);
      await new Promise((resolve) => (ends[name] = resolve));
      running.delete(name);
      note(`${name} ends`);
    },
    options,
  );
  return result.catch(({ message }) => message);
}

const first = run('A', { maxExecutionTime: 100 });
const [second, third, fourth] = [run('B'), run('C'), run('D')];
const ofFirst = await first;
await delay(100);
ends.A();
await delay(100);
ends.B();
await second;
await delay(100);
ends.C?.();
ends.D?.();
await Promise.all([third, fourth]);
console.log('result of A:', ofFirst);
console.log(log.join('\n'));
const isSeen =
  ofFirst === 'Maximum execution time is exceeded account' &&
  log.join(', ') === 'A starts: A, B starts: A and B, A ends: B, C starts: B and C, B ends: C, D starts: C and D, C ends: D, D ends: nobody';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
