#!/usr/bin/env bash
# @lifeomic/attempt 3.1.0: `retry()` calls its function again after the `timeout` has rejected it.
# Expected: "if the timeout is triggered then future attempts will be aborted", as the README says.
# Seen: the caller gets `ATTEMPT_TIMEOUT`. Once the slow attempt fails, the next ones are made, and a success goes to nobody.
# So an order that has been reported as failed is placed after all.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @lifeomic/attempt@3.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { retry } from '@lifeomic/attempt';

setTimeout(() => process.exit(1), 20_000).unref();

const events = [];
let fail;
const slow = new Promise((resolve, reject) => (fail = reject));
async function order({ attemptNum }) {
  events.push(`attempt ${attemptNum}`);
  if (attemptNum === 0) await slow;
  events.push('ordered');
}

await retry(order, { maxAttempts: 3, timeout: 50, delay: 20 }).catch(({ code }) => events.push(code));
fail(new Error('connection lost'));
await delay(500);
console.log('events:', events);
const isSeen = events.join() === 'attempt 0,ATTEMPT_TIMEOUT,attempt 1,ordered';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
