#!/usr/bin/env bash
# @n1ru4l/push-pull-async-iterable-iterator 3.2.0, rxjs 7.8.2: `complete()` drops the values that the reader has not read yet.
# Expected: the iterator keeps "pushed values until they are consumed by a source", as its docstring says, and then ends.
# Seen: `complete()` returns the generator at once. A reader that is busy with the first of three values gets no other.
# Of `of(1, 2, 3)` it gets none. While the source stays open, a busy reader gets all three.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @n1ru4l/push-pull-async-iterable-iterator@3.2.0 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { makeAsyncIterableIteratorFromSink } from '@n1ru4l/push-pull-async-iterable-iterator';
import { of, Subject } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();

/** Wraps an observable as the README wraps a client. */
const iterate = (observable) =>
  makeAsyncIterableIteratorFromSink((sink) => {
    const subscription = observable.subscribe(sink);
    return () => subscription.unsubscribe();
  });

/** What a reader gets that is still busy with 1 when 2 and 3 come. */
async function busyReader(isCompleting) {
  const source = new Subject();
  const iterator = iterate(source);
  source.next(1);
  const values = [];
  for await (const value of iterator) {
    values.push(value);
    if (value === 1) {
      source.next(2);
      source.next(3);
      if (isCompleting) source.complete();
    }
    if (value === 3) break;
  }
  return values;
}

const open = await busyReader(false);
const completed = await busyReader(true);
const atOnce = [];
for await (const value of iterate(of(1, 2, 3))) atOnce.push(value);
console.log('a busy reader of a source that stays open:', open);
console.log('a busy reader of a source that completes:', completed);
console.log('a reader of of(1, 2, 3):', atOnce);
const isSeen = open.join() === '1,2,3' && completed.join() === '1' && atOnce.length === 0;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
