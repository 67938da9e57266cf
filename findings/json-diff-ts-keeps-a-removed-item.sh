#!/usr/bin/env bash
# json-diff-ts 4.10.4: of three removed items, one is still there after the atomic changes are applied.
# Expected: `unatomizeChangeset(atomizeChangeset(diff))` changes a document as the diff does. The README: "(and back)".
# Seen: the diff itself removes all of them. After the way there and back the items are removed from the front, so each removal moves the next one.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-diff-ts@4.10.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import { applyChangeset, atomizeChangeset, diff, unatomizeChangeset } from 'json-diff-ts';

const cases = [
  [{ list: [1, 2, 3] }, { list: [] }],
  [{ list: [1, 2, 3, 4] }, { list: [1] }],
  [{ list: ['a', 'b', 'c'] }, { list: ['c'] }],
];
const seen = cases.map(([before, after]) => {
  const atoms = JSON.parse(JSON.stringify(atomizeChangeset(diff(before, after))));
  const applied = [diff(before, after), unatomizeChangeset(atoms)].map((changes) => applyChangeset(structuredClone(before), changes));
  return applied.map((document) => JSON.stringify(document));
});
for (const [i, [direct, atomic]] of seen.entries())
  console.log(JSON.stringify(cases[i][0]), 'to', JSON.stringify(cases[i][1]), '-> by the diff', direct, 'by its atomic changes', atomic);
const isSeen =
  seen.every(([direct], i) => direct === JSON.stringify(cases[i][1])) &&
  seen.map(([, atomic]) => atomic).join(' ') === '{"list":[2]} {"list":[1,3]} {"list":["c","c"]}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
