#!/usr/bin/env bash
# p-debounce 5.1.1: with `before: true`, a later call resolves with the result of an earlier window once the function takes longer than `wait`.
# Expected: the first call runs the function at once, and the other calls of its window resolve with its result. They do for a fast function.
# Seen: the other calls resolve when the window ends, with the result that came last by then. That is `undefined` at first.
# So a search for "Cid" answers the second click with the result of "Ann".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund p-debounce@5.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import pDebounce from 'p-debounce';

setTimeout(() => process.exit(1), 20_000).unref();

/** What two calls in each of two windows resolve with. The function ends at once, or after its window. */
async function resultsOf(isSlow) {
  let end;
  const search = pDebounce(
    (name) =>
      new Promise((resolve) => {
        end = () => resolve(name);
        if (!isSlow) end();
      }),
    50,
    { before: true },
  );
  const results = [];
  for (const name of ['Ann', 'Cid']) {
    const [first, second] = [search(name), search(name)];
    const ofSecond = await second;
    end();
    results.push([await first, String(ofSecond)].join(' and '));
  }
  return results.join(', ');
}

const fast = await resultsOf(false);
const slow = await resultsOf(true);
console.log('a fast function:', fast);
console.log('a slow function:', slow);
const isSeen = fast === 'Ann and Ann, Cid and Cid' && slow === 'Ann and undefined, Cid and Ann';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
