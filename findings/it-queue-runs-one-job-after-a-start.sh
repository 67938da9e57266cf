#!/usr/bin/env bash
# it-queue 1.1.4: after `start()`, a queue with a concurrency of 3 runs one job at a time.
# Expected: three jobs run at a time, as in a queue that starts by itself. The README says that the package is based on p-queue, which does so.
# Seen: `start()` begins one job, and the end of a job begins one more. The same holds after `pause()` and `start()`.
# So jobs that wait in a paused queue take three times as long.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund it-queue@1.1.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Queue } from 'it-queue';

setTimeout(() => process.exit(1), 20_000).unref();
// The package needs this function, which Node has from version 22 on.
Promise.withResolvers ??= function () {
  const resolvers = {};
  resolvers.promise = new this((resolve, reject) => Object.assign(resolvers, { resolve, reject }));
  return resolvers;
};

/** The most jobs that ran at a time, of six. */
async function mostOf(queue) {
  let running = 0;
  let most = 0;
  const jobs = Array.from({ length: 6 }, () =>
    queue.add(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 50));
      running -= 1;
    }),
  );
  queue.start();
  await Promise.all(jobs);
  return most;
}

const paused = new Queue({ concurrency: 3 });
paused.pause();
const ofAutomatic = await mostOf(new Queue({ concurrency: 3 }));
const ofStarted = await mostOf(new Queue({ concurrency: 3, autoStart: false }));
const ofPaused = await mostOf(paused);
console.log('jobs at a time in a queue that starts by itself:', ofAutomatic);
console.log('with autoStart: false and start():', ofStarted);
console.log('after pause() and start():', ofPaused);
const isSeen = ofAutomatic === 3 && ofStarted === 1 && ofPaused === 1;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
