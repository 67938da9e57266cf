#!/usr/bin/env bash
# mobx-utils 6.1.1, mobx 6.9.1: an exception of the processor of `queueProcessor()` takes all items with it that were queued in the same action.
# Expected: the processor is called "once for each item added to the observable array", as the documentation says. Items that were queued one by one are.
# Seen: the queue is emptied before the first call, and the first exception ends the walk over its items. Those behind it are neither processed nor queued.
# So one message that cannot be shown hides the others of its batch.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mobx-utils@6.1.1 mobx@6.9.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { configure, observable, onReactionError, runInAction } from 'mobx';
import utils from 'mobx-utils';

setTimeout(() => process.exit(1), 20_000).unref();
configure({ enforceActions: 'never' });
// mobx logs the processor's exception as well.
console.error = () => undefined;

/** What is shown of three messages, and what is left in the queue; the first one cannot be shown. */
function shownOf(push) {
  const queue = observable([]);
  const shown = [];
  const stop = utils.queueProcessor(queue, (message) => {
    if (message === 'broken') throw new Error('no such template');
    shown.push(message);
  });
  push(queue, ['broken', 'hello', 'bye']);
  stop();
  return `${shown.join(', ') || 'nothing'}; ${queue.length} queued`;
}

let errors = 0;
onReactionError(() => (errors += 1));
const oneByOne = shownOf((queue, messages) => messages.forEach((message) => queue.push(message)));
const atOnce = shownOf((queue, messages) => runInAction(() => queue.push(...messages)));
console.log('queued one by one:', oneByOne);
console.log('queued at once:', atOnce);
console.log('errors:', errors);
const isSeen = oneByOne === 'hello, bye; 0 queued' && atOnce === 'nothing; 0 queued' && errors === 2;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
