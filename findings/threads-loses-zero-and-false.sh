#!/usr/bin/env bash
# threads 1.7.0: an Observable of a worker loses each 0, `false`, '' and `null` that it emits.
# Expected: the subscriber gets every value, as it gets the same value from a worker's Promise.
# Seen: the main thread takes a result without a truthy payload for one without a value. A countdown never reaches 0.
# So a flag that turns false stays true for the subscriber.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund threads@1.7.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { writeFileSync } from 'node:fs';
import { spawn, Thread, Worker } from 'threads';

setTimeout(() => process.exit(1), 20_000).unref();
writeFileSync(
  'worker.cjs',
  `const { expose } = require('threads/worker');
  const { Observable } = require('threads/observable');
  expose({
    one: async (value) => value,
    all: (values) => Observable.from(values),
  });`,
);

const worker = await spawn(new Worker('./worker.cjs'));
const values = [2, 1, 0, true, false, 'text', '', null, 'end'];
const ofPromises = [];
for (const value of values) ofPromises.push(await worker.one(value));
const ofObservable = [];
await new Promise((resolve) => {
  worker.all(values).subscribe({ next: (value) => ofObservable.push(value), complete: resolve });
});
await Thread.terminate(worker);
console.log('sent:', JSON.stringify(values));
console.log('from Promises:', JSON.stringify(ofPromises));
console.log('from an Observable:', JSON.stringify(ofObservable));
const isSeen =
  JSON.stringify(ofPromises) === JSON.stringify(values) && JSON.stringify(ofObservable) === JSON.stringify(values.filter(Boolean));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
