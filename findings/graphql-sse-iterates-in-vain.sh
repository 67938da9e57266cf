#!/usr/bin/env bash
# graphql-sse 2.6.1: the first `next()` of `iterate()` never settles if the operation has ended before it is called.
# Expected: an iterator that is read late throws the error of its operation, or ends with it.
# Seen: the first `next()` waits for an event after its call. Values are kept for it, but an error or an end without values is lost.
# So `for await` waits for ever if other work comes between `iterate()` and the loop.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund graphql-sse@2.6.1 graphql@16.14.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { buildSchema } from 'graphql';
import { createClient } from 'graphql-sse';
import { createHandler } from 'graphql-sse/lib/use/http';

setTimeout(() => process.exit(1), 20_000).unref();
const schema = buildSchema('type Query { unread: Int } type Subscription { unread: Int, nothing: Int }');
const { unread, nothing } = schema.getSubscriptionType().getFields();
unread.subscribe = async function* subscribe() {
  yield { unread: 3 };
};
nothing.subscribe = async function* subscribe() {};
const handler = createHandler({ schema });
let answered = 0;
const server = createServer((request, response) => {
  response.on('close', () => answered++);
  if (request.url === '/graphql') handler(request, response);
  else response.writeHead(404).end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');

/** What the first `next()` returns if it is called at once, or once the server has answered. */
async function firstOf(path, query, isLate) {
  const client = createClient({ url: `http://127.0.0.1:${server.address().port}${path}`, retryAttempts: 0 });
  const before = answered;
  const iterator = client.iterate({ query });
  const isAnswered = (async () => {
    while (answered === before) await delay(10);
    await delay(500);
  })();
  if (isLate) await isAnswered;
  const settled = iterator.next().then(
    ({ value, done }) => (done ? 'end' : JSON.stringify(value.data)),
    () => 'error',
  );
  const outcome = await Promise.race([settled, delay(2_000, 'pending', { ref: false })]);
  await isAnswered;
  return outcome;
}

const seen = [];
for (const [path, query] of [
  ['/graphql', 'subscription { unread }'],
  ['/graphql', 'subscription { nothing }'],
  ['/misspelt', 'subscription { unread }'],
]) {
  seen.push({ path, query, early: await firstOf(path, query, false), late: await firstOf(path, query, true) });
}
console.table(seen);
const isSeen =
  seen.map(({ early, late }) => `${early} ${late}`).join() === '{"unread":3} {"unread":3},end pending,error pending';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
