#!/usr/bin/env bash
# nostr-tools 2.25.2: an event that a second relay sends is inserted again if others have its second.
# Expected: `insertEventIntoDescendingList()` returns the list unchanged for an event that it holds, as it does with three different times.
# Seen: a Nostr time has whole seconds, and with three events of one second, two of them are inserted twice.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund nostr-tools@2.25.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { utils } from 'nostr-tools';

/** The ids in a list after each of three events has arrived from two relays. */
function listOf(...times) {
  const events = times.map((time, index) => ({ id: String(index), created_at: time }));
  const list = [];
  for (const event of [...events, ...events]) utils.insertEventIntoDescendingList(list, event);
  return list.map(({ id }) => id).join();
}
const apart = listOf(1700000003, 1700000002, 1700000001);
const together = listOf(1700000001, 1700000001, 1700000001);
console.log('at three times:', apart);
console.log('in one second:', together);
const isSeen = apart === '0,1,2' && together.split(',').length > 3;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
