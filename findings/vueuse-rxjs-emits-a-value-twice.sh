#!/usr/bin/env bash
# @vueuse/rxjs 14.4.0, rxjs 7.8.2, vue 3.5.45: `useSubject()` emits each value of its Subject a second time.
# Expected: the Subject's values go into the ref, and only a value that is assigned to the ref goes into the Subject.
# Seen: the ref's watcher passes every change to the Subject, also the change that the Subject has made. All other subscribers get the value twice.
# Of several values in one turn only the last is repeated. An object comes back as a Vue proxy.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @vueuse/rxjs@14.4.0 rxjs@7.8.2 vue@3.5.45 >/dev/null
cat >program.mjs <<'PROGRAM'
import { useSubject } from '@vueuse/rxjs';
import { Subject } from 'rxjs';
import { effectScope, nextTick } from 'vue';

setTimeout(() => process.exit(1), 20_000).unref();

/** What another subscriber gets of values from both sides, with the ref or without it. */
async function valuesOf(isBound) {
  const payments = new Subject();
  const values = [];
  payments.subscribe((value) => values.push(value));
  const scope = effectScope();
  const payment = isBound
    ? scope.run(() => useSubject(payments))
    : {
        set value(value) {
          payments.next(value);
        },
      };
  for (const turn of [['a'], ['b'], ['c', 'd']]) {
    for (const value of turn) payments.next(value);
    await nextTick();
  }
  payment.value = 'e';
  await nextTick();
  scope.stop();
  return values.join('');
}

const alone = await valuesOf(false);
const bound = await valuesOf(true);
console.log('a Subject alone:', alone);
console.log('a Subject with useSubject():', bound);
const isSeen = alone === 'abcde' && bound === 'aabbcdde';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
