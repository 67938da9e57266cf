#!/usr/bin/env bash
# @rxjs-ninja/rxjs-utility 5.1.3, rxjs 6.6.7: `fromReadableStream()` completes when its stream fails.
# Expected: a stream's error is the Observable's error, as a loop over the stream throws it.
# The documentation of `throwEndAsError` speaks of aborts alone: it returns an error "when the `AbortSignal` has been fired instead of just closing".
# Seen: without that option, an error of the stream completes the Observable. A download that breaks off looks like a whole one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @rxjs-ninja/rxjs-utility@5.1.3 rxjs@6.6.7 >/dev/null
cat >program.mjs <<'PROGRAM'
import utility from '@rxjs-ninja/rxjs-utility';

setTimeout(() => process.exit(1), 20_000).unref();

/** A download that breaks off after its first chunk. */
function download() {
  let pulls = 0;
  return new ReadableStream({
    pull(controller) {
      pulls += 1;
      if (pulls === 1) controller.enqueue('first chunk');
      else controller.error(new Error('connection lost'));
    },
  });
}

async function eventsOfLoop() {
  const events = [];
  try {
    for await (const chunk of download()) events.push(chunk);
    events.push('end');
  } catch ({ message }) {
    events.push(message);
  }
  return events.join(', ');
}
const eventsOfObservable = (...options) =>
  new Promise((resolve) => {
    const events = [];
    utility.fromReadableStream(download(), ...options).subscribe({
      next: (chunk) => events.push(chunk),
      error: ({ message }) => resolve([...events, message].join(', ')),
      complete: () => resolve([...events, 'end'].join(', ')),
    });
  });

const ofLoop = await eventsOfLoop();
const ofObservable = await eventsOfObservable();
const withOption = await eventsOfObservable(undefined, undefined, true);
console.log('a loop:', ofLoop);
console.log('an Observable:', ofObservable);
console.log('an Observable with throwEndAsError:', withOption);
const isSeen =
  [ofLoop, withOption].every((events) => events === 'first chunk, connection lost') && ofObservable === 'first chunk, end';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
