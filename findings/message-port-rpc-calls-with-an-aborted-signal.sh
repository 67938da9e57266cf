#!/usr/bin/env bash
# message-port-rpc 2.0.0: a call with a signal that is already aborted is made, and resolves.
# Expected: the call rejects, as `fetch()` does, and as the README says of an abort during the call: "The promise will reject locally".
# Seen: the client only listens for the event of an abort, which does not come again. The remote function runs, and the caller gets its result.
# So a user who cancels while the arguments are still prepared does not cancel the call.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund message-port-rpc@2.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import { messagePortRPC } from 'message-port-rpc';

setTimeout(() => process.exit(1), 20_000).unref();

const { port1, port2 } = new MessageChannel();
let calls = 0;
messagePortRPC(port1, async () => {
  calls += 1;
  await delay(200);
  return 'paid';
});
const rpc = messagePortRPC(port2);

/** The outcome of a call, by the moment of its abort. */
async function outcomeOf(isBefore) {
  const controller = new AbortController();
  if (isBefore) controller.abort();
  const promise = rpc.withOptions({ signal: controller.signal })();
  if (!isBefore) controller.abort();
  return promise.then(
    (value) => `resolved: ${value}`,
    ({ message }) => `rejected: ${message}`,
  );
}

const after = await outcomeOf(false);
await delay(500);
calls = 0;
const before = await outcomeOf(true);
console.log('an abort after the call:', after);
console.log('an abort before the call:', before);
console.log('calls of the remote function after that abort:', calls);
const isSeen = after === 'rejected: Aborted.' && before === 'resolved: paid' && calls === 1;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
