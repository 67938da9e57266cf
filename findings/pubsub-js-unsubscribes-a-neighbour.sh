#!/usr/bin/env bash
# pubsub-js 1.9.5: `unsubscribe('car')` also ends the subscriptions of `cart`, and `countSubscriptions('car')` counts one topic only.
# Expected: the README says that `unsubscribe('a.b')` ends "'a.b' and 'a.b.c' topics": a topic, and those below it.
# Seen: it ends each topic whose name begins with the same letters. `clearSubscriptions()` does the same.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pubsub-js@1.9.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import PubSub from 'pubsub-js';

const topics = ['car', 'car.sold', 'cart', 'cart.paid'];

/** The topics that are still heard after an action. */
function heardAfter(action) {
  PubSub.clearAllSubscriptions();
  const heard = [];
  for (const topic of topics) PubSub.subscribe(topic, (published) => published === topic && heard.push(topic));
  action();
  for (const topic of topics) PubSub.publishSync(topic);
  return heard.join();
}

const before = heardAfter(() => {});
const count = PubSub.countSubscriptions('car');
const unsubscribed = heardAfter(() => PubSub.unsubscribe('car'));
const cleared = heardAfter(() => PubSub.clearSubscriptions('car'));
console.log('heard:', before);
console.log('countSubscriptions("car"):', count);
console.log('heard after unsubscribe("car"):', unsubscribed || 'nothing');
console.log('heard after clearSubscriptions("car"):', cleared || 'nothing');
const isSeen = before === topics.join() && count === 1 && unsubscribed === '' && cleared === '';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
