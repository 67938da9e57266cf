#!/usr/bin/env bash
# abort-controller-x 0.5.0: `retry()` with `maxAttempts: 3` makes four attempts, and with 1 it makes two.
# Expected: three, as `proactiveRetry()` of the same library makes. The README calls both a "maximum for the total number of attempts".
# Seen: the check compares the number of the attempt, which begins at 0, so `retry()` goes on once too often.
# So a payment that must not be repeated, with `maxAttempts: 1`, is made twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund abort-controller-x@0.5.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { proactiveRetry, retry } from 'abort-controller-x';

setTimeout(() => process.exit(1), 20_000).unref();

/** How often a function that always fails is called. */
async function attemptsOf(run, maxAttempts) {
  let attempts = 0;
  const fail = async () => {
    attempts += 1;
    throw new Error('refused');
  };
  await run(new AbortController().signal, fail, { baseMs: 5, maxAttempts }).catch(() => undefined);
  return attempts;
}

const seen = {};
for (const run of [proactiveRetry, retry]) {
  seen[run.name] = [];
  for (const maxAttempts of [1, 2, 3]) seen[run.name].push(await attemptsOf(run, maxAttempts));
}
console.log('attempts with a maximum of 1, 2 and 3:', seen);
const isSeen = seen.proactiveRetry.join() === '1,2,3' && seen.retry.join() === '2,3,4';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
