#!/usr/bin/env bash
# callbag-combine 1.2.0, callbag-merge 3.2.2, callbag-subscribe 1.5.1: `combine()` swallows the error of a source, and completes.
# Expected: the stream fails, as with callbag-merge. The callbag specification makes a termination with a payload an error.
# Seen: a source that fails counts as one that has ended. Its error goes to nobody; beside a source that lives on, nothing happens at all.
# So a page that combines two requests neither shows the failed one nor the reason.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund callbag-combine@1.2.0 callbag-merge@3.2.2 callbag-of@2.0.1 callbag-throw-error@1.0.1 callbag-subscribe@1.5.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import combine from 'callbag-combine';
import merge from 'callbag-merge';
import callbagOf from 'callbag-of';
import subscribe from 'callbag-subscribe';
import throwError from 'callbag-throw-error';

setTimeout(() => process.exit(1), 20_000).unref();
const of = callbagOf.default;

/** A source that neither emits nor ends. */
function never(start, sink) {
  if (start === 0) sink(0, () => undefined);
}

/** The events of a callbag. */
function eventsOf(source) {
  const events = [];
  subscribe({
    next: (value) => events.push(String(value)),
    error: ({ message }) => events.push(`error ${message}`),
    complete: () => events.push('complete'),
  })(source);
  return events.join(', ');
}

const failing = throwError(new Error('refused'));
const merged = eventsOf(merge(of('user'), failing));
const combined = eventsOf(combine(of('user'), failing));
const alive = eventsOf(combine(never, failing));
console.log('merge():', merged);
console.log('combine():', combined);
console.log('combine() with a source that lives on:', alive || 'nothing');
const isSeen = merged === 'user, error refused' && combined === 'complete' && alive === '';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
