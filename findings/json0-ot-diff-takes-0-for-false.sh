#!/usr/bin/env bash
# json0-ot-diff 1.1.2: two documents that differ in 0 and `false`, or in "007" and 7, yield no operation.
# Expected: operations that transform the first document into the second, as its README says. ShareDB's type json0 keeps such values apart.
# Seen: the package compares values with `==`, so the list of operations is empty. The replicas keep the old value for good.
# A change from "true" to `true` arrives, and so does one from `null` to 0. A key with `null` is never removed.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json0-ot-diff@1.1.2 ot-json0@1.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import diff from 'json0-ot-diff';
import { type } from 'ot-json0';

const changes = [
  [{ done: 0 }, { done: false }],
  [{ agent: '007' }, { agent: 7 }],
  [{ tags: '' }, { tags: [] }],
  [{ name: 'Ann', phone: null }, { name: 'Ann' }],
  [{ done: 'true' }, { done: true }],
  [{ done: null }, { done: 0 }],
];
const seen = changes.map(([from, to]) => {
  const operations = diff(from, to);
  const result = JSON.stringify(type.apply(structuredClone(from), operations));
  console.log(JSON.stringify(from), 'to', JSON.stringify(to), 'operations:', JSON.stringify(operations), 'result:', result);
  return result === JSON.stringify(to) ? 'arrives' : `${operations.length} operations`;
});
const byHand = type.apply({ done: 0 }, [{ p: ['done'], od: 0, oi: false }]);
console.log('json0 with an operation written by hand:', JSON.stringify(byHand));
const none = '0 operations';
const isSeen = seen.join() === [none, none, none, none, 'arrives', 'arrives'].join() && byHand.done === false;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
