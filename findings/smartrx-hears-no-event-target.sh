#!/usr/bin/env bash
# @push.rocks/smartrx 3.0.10, rxjs 7.8.2: `getSubjectForEventTarget()` returns a Subject that never emits.
# Expected: its Subject emits the target's events, as that of `getSubjectForEmitterEvent()` does for an EventEmitter.
# "Easily map browser events to observables", the README says of it.
# Seen: no listener is added to the target. The Subject also survives the call, so it looks like one of a target without events.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @push.rocks/smartrx@3.0.10 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { EventEmitter } from 'node:events';
import { Observablemap } from '@push.rocks/smartrx';
import { fromEvent } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();
const map = new Observablemap();

/** How often an observable of the event `save` emits when the event is dispatched twice. */
function countOf(observable, dispatch) {
  let count = 0;
  const subscription = observable.subscribe(() => (count += 1));
  dispatch();
  dispatch();
  subscription.unsubscribe();
  return count;
}

const [emitter, target] = [new EventEmitter(), new EventTarget()];
const emit = () => emitter.emit('save', 'draft');
const dispatch = () => target.dispatchEvent(new Event('save'));
const ofEmitter = countOf(map.getSubjectForEmitterEvent(emitter, 'save'), emit);
const ofRxjs = countOf(fromEvent(target, 'save'), dispatch);
const ofTarget = countOf(map.getSubjectForEventTarget(target, 'save'), dispatch);
console.log('smartrx, an EventEmitter:', ofEmitter);
console.log('rxjs, an EventTarget:', ofRxjs);
console.log('smartrx, an EventTarget:', ofTarget);
const isSeen = ofEmitter === 2 && ofRxjs === 2 && ofTarget === 0;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
