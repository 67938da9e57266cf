#!/usr/bin/env bash
# @sinclair/typebox 0.34.52: `Value.Patch()` does not remove a key or an item whose value is `null`.
# Expected: the new value. The README says that `Value.Diff()` generates edits "that will transform one value into another".
# Seen: the `delete` is among the edits, and `Value.Patch()` leaves it out without an error. So a cleared field stays for good.
# The same key is removed if it holds 0 or ''. typebox 1.4.3, its successor, removes `null` too.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @sinclair/typebox@0.34.52 typebox@1.4.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Value } from '@sinclair/typebox/value';
import Successor from 'typebox/value';

const changes = [
  [{ name: 'Ann', phone: null }, { name: 'Ann' }],
  [['Ann', null], ['Ann']],
  [{ name: 'Ann', phone: 0 }, { name: 'Ann' }],
  [
    { name: 'Ann', phone: null },
    { name: 'Ann', phone: 1 },
  ],
];
const patch = (library, from, to) => JSON.stringify(library.Patch(from, library.Diff(from, to)));
const read = changes.map(([from, to]) => {
  const [result, later] = [patch(Value, from, to), patch(Successor, from, to)];
  const edits = Value.Diff(from, to).map(({ type, path }) => `${type} ${path}`);
  console.log(JSON.stringify(from), 'to', JSON.stringify(to), 'edits:', edits.join(), 'result:', result, 'of typebox:', later);
  return { result, isRight: result === JSON.stringify(to), isLaterRight: later === JSON.stringify(to) };
});
const isSeen =
  read.map(({ isRight }) => isRight).join() === 'false,false,true,true' &&
  read[0].result === JSON.stringify(changes[0][0]) &&
  read[1].result === JSON.stringify(changes[1][0]) &&
  read.every(({ isLaterRight }) => isLaterRight);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
