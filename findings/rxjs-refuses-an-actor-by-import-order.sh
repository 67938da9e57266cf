#!/usr/bin/env bash
# rxjs 7.8.2, xstate 5.33.3, symbol-observable 4.0.0: whether `from(actor)` works depends on what was imported between the two.
# Expected: an actor is an interoperable Observable, whatever else a program imports.
# Seen: rxjs reads `Symbol.observable` at its import, xstate at its own. A module that defines it in between makes them disagree.
# `most` and `xstream` import symbol-observable themselves; a bundler that sorts modules in another way breaks a program that works.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rxjs@7.8.2 xstate@5.33.3 symbol-observable@4.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { execFileSync } from 'node:child_process';

/** Imports the packages in this order, in a process of its own, and subscribes to an actor. */
function outcome(order) {
  const program = `
    const modules = {};
    for (const name of ${JSON.stringify(order)}) modules[name] = await import(name);
    const { createActor, createMachine } = modules.xstate;
    const actor = createActor(createMachine({ initial: 'idle', states: { idle: {} } })).start();
    try {
      modules.rxjs.from(actor).subscribe().unsubscribe();
      console.log('subscribed');
    } catch (error) {
      console.log(error.message);
    }`;
  return execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' }).trim();
}

const orders = [
  ['symbol-observable', 'rxjs', 'xstate'],
  ['rxjs', 'xstate', 'symbol-observable'],
  ['rxjs', 'symbol-observable', 'xstate'],
];
const outcomes = orders.map((order) => outcome(order));
for (const [nth, order] of orders.entries()) console.log(`${order.join(', ')}: ${outcomes[nth]}`);
const isSeen = outcomes[0] === 'subscribed' && outcomes[1] === 'subscribed' && /invalid object/.test(outcomes[2]);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
