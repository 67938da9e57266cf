#!/usr/bin/env bash
# jsondiffpatch 0.7.7: `unpatch()` restores a wrong array where three new items come before one that changed.
# Expected: the original. Its README says that `unpatch()` reverts an object "to its original state using a delta".
# Seen: the changed item keeps its new value, and an `undefined` follows it. `reverse()` and `patch()` return the same.
# With one or two new items the original returns. So it does with three, if the old item has not changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund jsondiffpatch@0.7.7 >/dev/null
cat >program.mjs <<'PROGRAM'
import { create } from 'jsondiffpatch';

const patcher = create({ objectHash: ({ id }) => id });

/** The result of each way back, once this number of new tasks came before one that was done. */
function goBack(count, isDone = true) {
  const original = [{ id: 'call Ann', isDone: false }];
  const changed = [...['a', 'b', 'c'].slice(0, count).map((id) => ({ id })), { id: 'call Ann', isDone }];
  const delta = patcher.diff(original, changed);
  return {
    patched: patcher.patch(structuredClone(original), structuredClone(delta)).length === changed.length,
    unpatched: patcher.unpatch(structuredClone(changed), structuredClone(delta)),
    reversed: patcher.patch(structuredClone(changed), patcher.reverse(structuredClone(delta))),
  };
}

const isOriginal = ({ unpatched }) => JSON.stringify(unpatched) === '[{"id":"call Ann","isDone":false}]';
const [one, two, three] = [1, 2, 3].map((count) => goBack(count));
const unchanged = goBack(3, false);
console.log('after one new task:', one);
console.log('after two:', two);
console.log('after three:', three);
console.log('after three, the task unchanged:', unchanged);
const isSeen =
  [one, two, unchanged].every(isOriginal) &&
  three.patched &&
  [three.unpatched, three.reversed].every((tasks) => tasks.length === 2 && tasks[0].isDone && tasks[1] === undefined);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
