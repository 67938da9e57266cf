#!/usr/bin/env bash
# changeset 0.2.6: after a change that drops the last two items of an array, one of the two is still there.
# Expected: the new object. The README says of `apply(diff(a, b), a)` that "the transformed object should now equal b".
# Seen: it deletes the indices from the first to the last, each from what the one before has left. With three items fewer a hole follows.
# One item fewer, as in the README, arrives. So do longer arrays.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund changeset@0.2.6 >/dev/null
cat >program.mjs <<'PROGRAM'
import diff from 'changeset';

const steps = ['wash', 'peel', 'cut', 'fry', 'salt'];
const change = (from, to) => diff.apply(diff({ steps: from }, { steps: to }), { steps: from }).steps;
const read = [4, 3, 2].map((length) => change(steps, steps.slice(0, length)));
for (const result of read) console.log(steps.slice(0, 4 - read.indexOf(result)), 'is read as', result);
const longer = change(steps.slice(0, 1), steps);
console.log(steps, 'is read as', longer);
const [one, two, three] = read;
const isSeen =
  one.join() === 'wash,peel,cut,fry' &&
  two.join() === 'wash,peel,cut,salt' &&
  three.join() === 'wash,peel,fry,' &&
  !(3 in three) &&
  longer.join() === steps.join();
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
