#!/usr/bin/env bash
# p-ratelimit 1.0.1: a queued call does not start while another one runs, although rate and concurrency allow it.
# Expected: with one call per 50 ms and ten at a time, the second call starts after 50 ms.
# Seen: while any call runs, the limiter looks at its queue only when a call ends or a new one comes. The second call waits for the end of the first.
# So one slow download stops all that is queued behind it. Without a running call the queue moves on by a timer.
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

/** The calls that have started after two seconds, and once the first one has ended. */
async function startedOf(isSlow) {
  const limit = pRateLimit({ interval: 50, rate: 1, concurrency: 10 });
  const started = [];
  let release;
  const slow = new Promise((resolve) => (release = resolve));
  const call = (name, work) =>
    limit(async () => {
      started.push(name);
      await work;
    });
  const calls = [call('first', isSlow ? slow : undefined), call('second')];
  await delay(2_000);
  const during = started.join();
  release();
  await Promise.all(calls);
  return [during, started.join()];
}

const short = await startedOf(false);
const long = await startedOf(true);
console.log('a short first call, after 2 s and at the end:', short);
console.log('a slow first call, after 2 s and at its end:', long);
const isSeen = short.every((names) => names === 'first,second') && long[0] === 'first' && long[1] === 'first,second';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
