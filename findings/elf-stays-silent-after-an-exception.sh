#!/usr/bin/env bash
# @ngneat/elf 2.5.1, rxjs 7.8.2: an exception inside `emitOnce()` silences all stores of the program.
# Expected: the exception reaches the caller, and the next update of a store is emitted.
# Seen: the batch that `emitOnce()` begins never ends, for any store. `getValue()` returns the new states, and no subscriber hears of them.
# A later `emitOnce()` does not end the batch; only an `emitOnceAsync()` does. After a rejection in `emitOnceAsync()` nothing does.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ngneat/elf@2.5.1 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { createStore, emitOnce, emitOnceAsync, select, setProp, withProps } from '@ngneat/elf';

setTimeout(() => process.exit(1), 20_000).unref();

const cart = createStore({ name: 'cart' }, withProps({ count: 0 }));
const user = createStore({ name: 'user' }, withProps({ count: 0 }));
const emitted = [];
cart.pipe(select(({ count }) => count)).subscribe((count) => emitted.push(`cart ${count}`));
user.pipe(select(({ count }) => count)).subscribe((count) => emitted.push(`user ${count}`));

const add = (count) => count + 1;
function emittedBy(update) {
  const seen = emitted.length;
  update();
  return emitted.slice(seen);
}
const updates = {
  update: () => {
    cart.update(setProp('count', add));
    user.update(setProp('count', add));
  },
  emitOnce: () => emitOnce(() => cart.update(setProp('count', add))),
};
const emittedByAll = () => [emittedBy(updates.update), emittedBy(updates.emitOnce)];
const fail = () => {
  throw new Error('not in stock');
};

const before = emittedByAll();
try {
  emitOnce(fail);
} catch ({ message }) {
  console.log('emitOnce() throws:', message);
}
const afterException = emittedByAll();
await emitOnceAsync(async () => undefined);
const healed = emittedByAll();
await emitOnceAsync(async () => fail()).catch(({ message }) => console.log('emitOnceAsync() rejects:', message));
await emitOnceAsync(async () => undefined);
const afterRejection = emittedByAll();
const states = [cart.getValue().count, user.getValue().count];
console.log('emitted before:', before);
console.log('emitted after the exception:', afterException);
console.log('emitted after an emitOnceAsync():', healed);
console.log('emitted after the rejection:', afterRejection);
console.log('states:', states);
const isSeen =
  JSON.stringify(before) === '[["cart 1","user 1"],["cart 2"]]' &&
  JSON.stringify([afterException, afterRejection]) === '[[[],[]],[[],[]]]' &&
  JSON.stringify(healed) === '[["cart 5","user 3"],["cart 6"]]' &&
  states.join() === '8,4';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
