#!/usr/bin/env bash
# ts-ics 2.4.6: the line before an alarm is read with a line break at its end.
# Expected: an event that is written and read keeps its texts. The README: "aims to be fully RFC 5545 compliant".
# Seen: an event with an alarm and a guest gets a longer description each time. Without the guest, whose line follows the alarm, it stays.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ts-ics@2.4.6 >/dev/null
cat >program.mjs <<'PROGRAM'
import { convertIcsEvent, generateIcsEvent } from 'ts-ics';

const at = (hour) => ({ date: new Date(Date.UTC(2024, 5, 3, hour)) });
const plain = { uid: '1@example.org', stamp: at(8), start: at(10), end: at(11), summary: 'Lunch', description: 'Table 5' };
const alarms = [{ action: 'DISPLAY', description: 'Soon', trigger: { type: 'relative', value: { before: true, minutes: 15 } } }];
const attendees = [{ email: 'ann@example.org' }];
const again = (event) => convertIcsEvent(undefined, generateIcsEvent(event));
const rows = [{ attendees }, { alarms }, { alarms, attendees }].map((more) => {
  const once = again({ ...plain, ...more });
  return [once, again(once), again(again(once))].map(({ description }) => description);
});
for (const [i, row] of rows.entries()) console.log(['a guest', 'an alarm', 'both'][i], 'after one, two and three times:', JSON.stringify(row));
const isSeen =
  rows[0].every((text) => text === 'Table 5') &&
  rows[1].every((text) => text === 'Table 5') &&
  rows[2].every((text, i) => text === `Table 5${'\n'.repeat(i + 1)}`);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
