#!/usr/bin/env bash
# cockatiel 3.2.1: `bulkhead(1, 1)` rejects a call that it has queued, in favour of two later ones.
# Expected: a queued call runs once the slot is free. Calls that come while the queue is full get a `BulkheadRejectedError`.
# Seen: a queued call leaves the queue one step before it takes the slot. Calls of that moment take the slot and the place in the queue.
# It takes a first call and two later ones that wait for the same promise, as the users of one connection do.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cockatiel@3.2.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { bulkhead } from 'cockatiel';

setTimeout(() => process.exit(1), 20_000).unref();

/** The order in which calls run, if the last two come as the first one ends, or a turn later. */
async function eventsOf(isLater) {
  const limit = bulkhead(1, 1);
  const events = [];
  let open;
  const connected = new Promise((resolve) => (open = resolve));
  function call(name, work) {
    const run = () => {
      events.push(`${name} runs`);
      return work;
    };
    return limit.execute(run).catch(({ constructor }) => events.push(`${name}: ${constructor.name}`));
  }
  const first = call('first', connected);
  const queued = call('queued');
  const later = connected.then(async () => {
    if (isLater) await new Promise((resolve) => setTimeout(resolve));
    await Promise.all([call('third'), call('fourth')]);
  });
  open();
  await Promise.all([first, queued, later]);
  return events.join(', ');
}

const aTurnLater = await eventsOf(true);
const atOnce = await eventsOf(false);
console.log('two calls a turn later:', aTurnLater);
console.log('two calls at once:', atOnce);
const isSeen =
  aTurnLater === 'first runs, queued runs, third runs, fourth runs' &&
  atOnce === 'first runs, third runs, fourth runs, queued: BulkheadRejectedError';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
