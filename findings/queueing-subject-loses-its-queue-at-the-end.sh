#!/usr/bin/env bash
# queueing-subject 1.0.0, rxjs 7.8.2: `complete()` before the first subscriber loses all values that are queued.
# Expected: the first subscriber gets the queue and then the end, as from a ReplaySubject, to which the README compares it.
# Seen: the subscriber gets the end first, and the queue goes to nobody. An error loses it too.
# rxjs-websockets recommends it "to ensure every message is delivered". Messages before a completion are not, unless the socket is open by then.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund queueing-subject@1.0.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { QueueingSubject } from 'queueing-subject';
import { ReplaySubject } from 'rxjs';

/** What the first subscriber of a subject gets, if the subject has already ended. */
function eventsOf(Subject, end) {
  const subject = new Subject();
  const events = [];
  subject.next('hello');
  subject.next('goodbye');
  if (end) subject[end](new Error('lost'));
  subject.subscribe({
    next: (value) => events.push(value),
    error: () => events.push('error'),
    complete: () => events.push('complete'),
  });
  return events.join(', ');
}

const ofReplay = eventsOf(ReplaySubject, 'complete');
const open = eventsOf(QueueingSubject);
const completed = eventsOf(QueueingSubject, 'complete');
const failed = eventsOf(QueueingSubject, 'error');
console.log('ReplaySubject, completed:', ofReplay);
console.log('QueueingSubject, open:', open);
console.log('QueueingSubject, completed:', completed);
console.log('QueueingSubject, failed:', failed);
const isSeen = ofReplay === 'hello, goodbye, complete' && open === 'hello, goodbye' && completed === 'complete' && failed === 'error';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
