#!/usr/bin/env bash
# postmsg-rpc 2.4.0: a call of a synchronous function that throws is never answered.
# Expected: the caller's Promise rejects, as for a function that rejects. The README says that a function "should be synchronous or return a promise".
# Seen: the exception leaves the server's message listener. The client gets no message, so its Promise stays pending for good.
# An `async` function with the same body is answered.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postmsg-rpc@2.4.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import rpc from 'postmsg-rpc';

setTimeout(() => process.exit(1), 20_000).unref();

// Two windows that hear each other's messages. A listener that throws does so on its own, as in a browser.
const listeners = new Set();
const thrown = [];
const options = {
  addListener: (type, listener) => listeners.add(listener),
  removeListener: (type, listener) => listeners.delete(listener),
  postMessage(data) {
    queueMicrotask(() => {
      for (const listener of [...listeners]) {
        try {
          listener({ data });
        } catch ({ message }) {
          thrown.push(message);
        }
      }
    });
  },
};

function check(age) {
  if (age < 18) throw new Error(`${age} is too young`);
  return 'welcome';
}
rpc.expose('sync', check, options);
rpc.expose('async', async (age) => check(age), options);

/** What a caller sees after a second. */
function outcomeOf(name, age) {
  const answer = rpc.caller(name, options)(age);
  return Promise.race([answer, delay(1_000, 'pending')]).catch(({ message }) => `rejected: ${message}`);
}

const seen = {};
for (const name of ['async', 'sync']) seen[name] = [await outcomeOf(name, 42), await outcomeOf(name, 7)];
console.log('the caller sees:', seen);
console.log('thrown by the listener:', thrown);
const isSeen =
  seen.async.join() === 'welcome,rejected: 7 is too young' && seen.sync.join() === 'welcome,pending' && thrown.join() === '7 is too young';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
