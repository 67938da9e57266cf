#!/usr/bin/env bash
# just-debounce-it 3.2.0: with `callFirst`, `flush()` calls the function once more for a call that has already run.
# Expected: `flush()` runs a call that waits, and nothing else, as in lodash. "Immediately invoke the debounced function", its README says.
# Seen: it repeats the first call, with its arguments, even when nothing waits. After the wait each further `flush()` repeats it again.
# So a page that flushes its debounced save as it is left saves twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund just-debounce-it@3.2.0 lodash.debounce@4.0.8 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import justDebounce from 'just-debounce-it';
import lodashDebounce from 'lodash.debounce';

setTimeout(() => process.exit(1), 20_000).unref();

/** What is saved by one call and the flushes after it, during the wait or behind it. */
async function savesOf(debounce, pause) {
  const saves = [];
  const save = debounce((text) => saves.push(text), pause === 0 ? 10_000 : 20);
  save('draft');
  await delay(pause);
  save.flush();
  save.flush();
  save.cancel();
  return saves.join(', ');
}

const lodash = (save, wait) => lodashDebounce(save, wait, { leading: true });
const just = (save, wait) => justDebounce(save, wait, true);
const ofLodash = [await savesOf(lodash, 0), await savesOf(lodash, 300)];
const ofJust = [await savesOf(just, 0), await savesOf(just, 300)];
console.log('lodash, two flushes during the wait, and behind it:', ofLodash);
console.log('just-debounce-it, two flushes during the wait, and behind it:', ofJust);
const isSeen = ofLodash.join('; ') === 'draft; draft' && ofJust.join('; ') === 'draft, draft; draft, draft, draft';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
