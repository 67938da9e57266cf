#!/usr/bin/env bash
# @remote-ui/rpc 1.4.7: a callback fails during a call, once another call that was given the same function has returned.
# Expected: "a function is only retained for the lifetime of its 'parent'", the call that passed it, as the README says. So each call keeps it.
# Seen: only the first of two overlapping calls retains the function. Its return releases it, and the second call's callback throws.
# One function for the progress of two downloads is enough. With two functions of one body both calls succeed.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @remote-ui/rpc@1.4.7 >/dev/null
cat >program.mjs <<'PROGRAM'
import { createEndpoint, fromMessagePort } from '@remote-ui/rpc';

setTimeout(() => process.exit(1), 20_000).unref();
const { port1, port2 } = new MessageChannel();
const page = createEndpoint(fromMessagePort(port1));
const worker = createEndpoint(fromMessagePort(port2));
port1.start();
port2.start();

// A download of two parts, which waits for 'continue()' between them.
const waiting = new Map();
worker.expose({
  async download(name, onProgress) {
    try {
      await onProgress(`${name} at 50 %`);
      await new Promise((resolve) => waiting.set(name, resolve));
      await onProgress(`${name} at 100 %`);
      return 'done';
    } catch ({ message }) {
      return message;
    }
  },
});
async function until(name) {
  while (!waiting.has(name)) await new Promise((resolve) => setTimeout(resolve, 10));
  return waiting.get(name);
}

/** The results of two downloads at a time, the second of which takes longer. */
async function resultsOf(onProgress, onProgressOfSecond) {
  waiting.clear();
  const first = page.call.download('first', onProgress);
  const second = page.call.download('second', onProgressOfSecond);
  const [endFirst, endSecond] = [await until('first'), await until('second')];
  endFirst();
  const result = await first;
  endSecond();
  return { first: result, second: await second };
}

const progress = [];
const log = (text) => {
  progress.push(text);
};
const ofTwo = await resultsOf(
  (text) => log(text),
  (text) => log(text),
);
const ofOne = await resultsOf(log, log);
console.log('two functions:', ofTwo);
console.log('one function:', ofOne);
const isSeen =
  [ofTwo.first, ofTwo.second, ofOne.first].every((result) => result === 'done') &&
  ofOne.second === 'You attempted to call a function that was already released.' &&
  progress.filter((text) => text === 'second at 100 %').length === 1;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
