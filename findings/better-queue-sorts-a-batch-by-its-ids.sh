#!/usr/bin/env bash
# better-queue 3.8.12: a batch of tasks with numbers as ids is sorted by these numbers, whatever its order was.
# Expected: a batch has the order of the queue: first in, first out, or that of `filo` and `priority`.
# Seen: the batch is an object whose keys are the ids, and an object lists such keys in ascending order.
# With texts as ids, or one task at a time, the order is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund better-queue@3.8.12 >/dev/null
cat >program.mjs <<'PROGRAM'
import Queue from 'better-queue';

setTimeout(() => process.exit(1), 20_000).unref();

/** The names of the tasks in the order in which the queue hands them over. */
const order = (ids, options) =>
  new Promise((resolve) => {
    const names = [];
    const process = (tasks, done) => {
      names.push(...[tasks].flat().map((task) => task.name));
      done();
      if (names.length === 3) resolve(names.join());
    };
    const queue = new Queue(process, { batchDelay: 200, ...options });
    for (const [i, name] of ['Ann', 'Bob', 'Charlie'].entries()) queue.push({ id: ids[i], name, rank: [1, 9, 5][i] });
  });

const priority = (task, done) => done(null, task.rank);
const rows = {
  'first in, first out': [[30, 4, 12], {}],
  filo: [[1, 2, 3], { filo: true }],
  priority: [[1, 2, 3], { priority }],
};
const seen = [];
for (const [title, [ids, options]] of Object.entries(rows)) {
  const texts = ids.map((id) => `task ${id}`);
  const right = await order(texts, { batchSize: 3, ...options });
  const wrong = await order(ids, { batchSize: 3, ...options });
  seen.push(right, wrong);
  console.log(`${title}: ${right} with texts as ids, ${wrong} with numbers`);
}
const single = await order(rows['first in, first out'][0], { batchSize: 1 });
console.log('first in, first out, one task at a time:', single);
const isSeen =
  seen.join(' ') === 'Ann,Bob,Charlie Bob,Charlie,Ann Charlie,Bob,Ann Ann,Bob,Charlie Bob,Charlie,Ann Ann,Bob,Charlie' &&
  single === 'Ann,Bob,Charlie';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
