#!/usr/bin/env bash
# axax 0.2.2: `concurrentMap()` ends with its source, and loses the results that are still under way.
# Expected: one result for each element, as from `map()`. The concurrency says only how many functions run at a time.
# Seen: with a concurrency of 3, the last two results are lost. All functions run to their end.
# So of three downloads one is delivered, and no error is reported.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund axax@0.2.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { createRequire } from 'node:module';

setTimeout(() => process.exit(1), 20_000).unref();
const require = createRequire(import.meta.url);
const { concurrentMap } = require('axax/esnext/concurrentMap');
const { map } = require('axax/esnext/map');
const { of } = require('axax/esnext/of');

/** The results of three downloads, the last two of which take a moment, and the number of those that have ended. */
async function resultsOf(operator) {
  const results = [];
  let ended = 0;
  async function download(file) {
    if (file !== 'a') await new Promise((resolve) => setTimeout(resolve, 200));
    ended += 1;
    return file;
  }
  for await (const file of operator(download)(of('a', 'b', 'c'))) results.push(file);
  await new Promise((resolve) => setTimeout(resolve, 500));
  return { results: results.join(), ended };
}

const mapped = await resultsOf(map);
const concurrent = await resultsOf((download) => concurrentMap(download, 3));
console.log('map():', mapped);
console.log('concurrentMap():', concurrent);
const isSeen = mapped.results === 'a,b,c' && mapped.ended === 3 && concurrent.results === 'a' && concurrent.ended === 3;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
