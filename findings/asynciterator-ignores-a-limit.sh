#!/usr/bin/env bash
# asynciterator 3.10.0: `transform()` ignores its option `limit` beside its option `transform`.
# Expected: two items. The documentation of the options says of `limit`: "The maximum number of items".
# Seen: all items arrive. Beside `map` the option works, and `offset` works beside `transform`, so "items 2 and 3" becomes "items 2 to 5".
# `.transform({ transform }).take(2)` yields two.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund asynciterator@3.10.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { ArrayIterator } from 'asynciterator';

setTimeout(() => process.exit(1), 20_000).unref();
const slowly = (item, done, push) =>
  setTimeout(() => {
    push(item * 10);
    done();
  }, 1);
const source = () => new ArrayIterator([1, 2, 3, 4, 5]);
const rows = {
  'limit and map': source().transform({ limit: 2, map: (item) => item * 10 }),
  'limit and transform': source().transform({ limit: 2, transform: slowly }),
  'offset, limit and map': source().transform({ offset: 1, limit: 2, map: (item) => item * 10 }),
  'offset, limit and transform': source().transform({ offset: 1, limit: 2, transform: slowly }),
  'transform and take(2)': source().transform({ transform: slowly }).take(2),
};
const seen = {};
for (const [title, iterator] of Object.entries(rows)) {
  seen[title] = [];
  for await (const item of iterator) seen[title].push(item);
  console.log(`${title}: ${seen[title].join(', ')}`);
}
const isSeen = Object.values(seen).join(' ') === '10,20 10,20,30,40,50 20,30 20,30,40,50 10,20';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
