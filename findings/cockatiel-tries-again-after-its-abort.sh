#!/usr/bin/env bash
# cockatiel 3.2.1: `retry()` whose signal is aborted during a backoff waits for its end, and then calls the function once more.
# Expected: "if the function doesn't succeed before the backoff ceases or cancellation is requested, the last error thrown will be bubbled up".
# Seen: the signal is read only after a failure. The aborted call is made again, and if it succeeds, `execute()` resolves.
# So a form that is left between two tries is sent after all.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cockatiel@3.2.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { ConstantBackoff, handleAll, retry } from 'cockatiel';

setTimeout(() => process.exit(1), 20_000).unref();

const events = [];
const controller = new AbortController();
const policy = retry(handleAll, { maxAttempts: 5, backoff: new ConstantBackoff(100) });
policy.onRetry(() => {
  events.push('aborted');
  controller.abort();
});

async function send({ attempt, signal }) {
  events.push(`call ${attempt + 1} with ${signal.aborted ? 'an aborted' : 'a live'} signal`);
  if (attempt === 0) throw new Error('busy');
  return 'sent';
}

const result = await policy.execute(send, controller.signal).catch(({ message }) => message);
console.log('events:', events);
console.log('result:', result);
const isSeen = events.join() === 'call 1 with a live signal,aborted,call 2 with an aborted signal' && result === 'sent';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
