#!/usr/bin/env bash
# @tanstack/pacer 0.22.0: an AsyncDebouncer never runs the last call, if the call before it ends during the wait.
# Expected: a call runs once its wait is over without a newer call, as with the package's own Debouncer.
# Seen: the end of an execution clears the arguments of the call that waits. Its timer then runs nothing.
# Its promise resolves with the result of the earlier call, and that one's promise has resolved with `undefined` before.
# So a user who types on during a slow search sees the result of the older text for good.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @tanstack/pacer@0.22.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { AsyncDebouncer, Debouncer } from '@tanstack/pacer';

setTimeout(() => process.exit(1), 20_000).unref();

/** What a debouncer runs of two calls, the second of which is made as the first one runs and before it ends. */
async function runsOf(Class) {
  const runs = [];
  const results = [];
  let start, end;
  const started = new Promise((resolve) => (start = resolve));
  const search = new Class(
    (text) => {
      runs.push(text);
      start();
      return new Promise((resolve) => (end = () => resolve(`result of ${text}`)));
    },
    { wait: 50 },
  );
  const call = (text) => search.maybeExecute(text)?.then((result) => results.push(`${text}: ${result}`));
  call('ra');
  await started;
  call('rain');
  end();
  await delay(1000);
  end();
  await delay(100);
  return { runs: runs.join(), results: results.join(', ') };
}

const debounced = await runsOf(Debouncer);
const asyncDebounced = await runsOf(AsyncDebouncer);
console.log('Debouncer runs:', debounced.runs);
console.log('AsyncDebouncer runs:', asyncDebounced.runs);
console.log('AsyncDebouncer results:', asyncDebounced.results);
const isSeen =
  debounced.runs === 'ra,rain' && asyncDebounced.runs === 'ra' && asyncDebounced.results === 'ra: undefined, rain: result of ra';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
