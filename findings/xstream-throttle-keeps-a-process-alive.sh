#!/usr/bin/env bash
# xstream 11.14.0: a `throttle()` that loses its listener leaves an interval behind, for good.
# Expected: no timer is left once the last listener is removed, as with `debounce()` of the same package.
# Seen: the operator forgets the id of its interval and does not clear it. The interval goes on, and a Node process does not end.
# Each listener that leaves within the period of a value adds one more.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund xstream@11.14.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import xstream from 'xstream';
import debounce from 'xstream/extra/debounce.js';
import throttle from 'xstream/extra/throttle.js';

setTimeout(() => process.exit(1), 20_000).unref();
const { create } = xstream.default;

/** The number of timers that keep the process alive after three listeners have come, got a value and left. */
async function timersOf(operator) {
  const clicks = create();
  const throttled = clicks.compose(operator(300));
  for (const click of [1, 2, 3]) {
    const listener = { next: () => undefined };
    throttled.addListener(listener);
    clicks.shamefullySendNext(click);
    throttled.removeListener(listener);
    await delay(20);
  }
  await delay(1_500);
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

const ofDebounce = await timersOf(debounce.default);
const ofThrottle = await timersOf(throttle.default);
console.log('timers after debounce():', ofDebounce);
console.log('timers after throttle():', ofThrottle);
const isSeen = ofDebounce === 0 && ofThrottle === 3;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
