#!/usr/bin/env bash
# streaming-iterables 8.0.1: `take(0, rows)` yields the first row, and reads it from its source.
# Expected: `take()` "reads a specific number of items", so none, as `takeLast(0, rows)` yields none.
# Seen: `take()` compares its count after a row, not before. `take(0, rows)` equals `take(1, rows)`, with sync and async sources.
# So a page of what a quota leaves, which is 0, has one row.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund streaming-iterables@8.0.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { collect, take, takeLast } from 'streaming-iterables';

setTimeout(() => process.exit(1), 20_000).unref();

let read = 0;
async function* rows() {
  for (;;) {
    read += 1;
    yield `row ${read}`;
  }
}

const last = collect(takeLast(0, [1, 2, 3]));
const sync = [2, 1, 0].map((count) => collect(take(count, [1, 2, 3])));
const async = await collect(take(0, rows()));
console.log('takeLast(0):', last);
console.log('take(2), take(1) and take(0) of an array:', sync);
console.log(`take(0) of an async source, which was read ${read} times:`, async);
const isSeen = last.length === 0 && JSON.stringify(sync) === '[[1,2],[1],[1]]' && async.join() === 'row 1' && read === 1;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
