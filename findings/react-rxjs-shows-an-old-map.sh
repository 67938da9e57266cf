#!/usr/bin/env bash
# @react-rxjs/core 0.10.8, @react-rxjs/utils 0.9.7, react 19.3.1: a component that is bound to `combineKeys()` never shows a change.
# Expected: a new map "whenever any of it changes", as the documentation of `combineKeys()` says, and a render for each.
# Seen: the map is one object, which changes between its emissions. React compares it with itself and renders nothing.
# A plain subscriber sees each change, and so does a component that is bound to a copy of the map.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @react-rxjs/core@0.10.8 @react-rxjs/utils@0.9.7 react@19.3.1 react-test-renderer@19.3.1 rxjs@7.8.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { combineKeys } from '@react-rxjs/utils';
import { bind, Subscribe } from '@react-rxjs/core';
import { createElement } from 'react';
import { act, create } from 'react-test-renderer';
import { BehaviorSubject, concat, map, NEVER, of } from 'rxjs';

setTimeout(() => process.exit(1), 20_000).unref();
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
// The renderer says that it is deprecated.
console.error = () => undefined;

const prices = { gold: new BehaviorSubject(1), iron: new BehaviorSubject(2) };
const all$ = combineKeys(concat(of(['gold', 'iron']), NEVER), (name) => prices[name]);
const textOf = (all) => [...all.values()].join(' and ');

/** Mounts a component that shows an observable of maps. */
async function mount(observable) {
  const [useAll, bound$] = bind(observable);
  const Prices = () => textOf(useAll());
  let root;
  await act(() => {
    root = create(createElement(Subscribe, { source$: bound$ }, createElement(Prices)));
  });
  return root;
}

const emitted = [];
all$.subscribe((all) => emitted.push(textOf(all)));
const ofMap = await mount(all$);
const ofCopy = await mount(all$.pipe(map((all) => new Map(all))));
const shown = { map: [ofMap.toJSON()], copy: [ofCopy.toJSON()] };
for (const [name, price] of [
  ['gold', 5],
  ['iron', 6],
]) {
  await act(() => prices[name].next(price));
  shown.map.push(ofMap.toJSON());
  shown.copy.push(ofCopy.toJSON());
}
console.log('emitted:', emitted);
console.log('shown, of the map:', shown.map);
console.log('shown, of a copy:', shown.copy);
const isSeen =
  [emitted, shown.copy].every((texts) => texts.join() === '1 and 2,5 and 2,5 and 6') && shown.map.join() === '1 and 2,1 and 2,1 and 2';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
