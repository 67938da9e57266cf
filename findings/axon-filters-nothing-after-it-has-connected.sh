#!/usr/bin/env bash
# axon 2.0.3: the first `subscribe()` of a SubSocket that is connected filters nothing.
# Expected: only messages of that topic. The README says that a SubSocket may subscribe to topics, and states no time for it.
# Seen: all messages still arrive, while `hasSubscriptions()` is true and `matches()` is false for their topics.
# A second topic works on the same connection if the first one was subscribed before it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund axon@2.0.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import axon from 'axon';

setTimeout(() => process.exit(1), 20_000).unref();
const publisher = axon.socket('pub');
publisher.bind(0, '127.0.0.1');
await once(publisher, 'bind');

/** The topics that a subscriber hears: it subscribes to some before it connects, and to others afterwards. */
async function heard(before, after) {
  const subscriber = axon.socket('sub');
  for (const topic of before) subscriber.subscribe(topic);
  const topics = [];
  let isOver;
  const over = new Promise((resolve) => {
    isOver = resolve;
  });
  subscriber.on('message', (topic) => (topic === 'end' ? isOver() : topics.push(topic)));
  const accepted = once(publisher, 'connect');
  subscriber.connect(publisher.address().port, '127.0.0.1');
  await Promise.all([accepted, once(subscriber, 'connect')]);
  await delay(50);
  for (const topic of after) subscriber.subscribe(topic);
  for (const topic of ['login', 'logout', 'upload', 'end']) publisher.send(topic, 'Ann');
  await over;
  const result = { topics: topics.join(), hasSubscriptions: subscriber.hasSubscriptions(), matchesUpload: subscriber.matches('upload') };
  subscriber.close();
  return result;
}

const rows = [await heard(['login', 'end'], []), await heard(['login'], ['logout', 'end']), await heard([], ['login', 'end'])];
console.log('subscribed before it connects:', rows[0]);
console.log('subscribed before and afterwards:', rows[1]);
console.log('subscribed afterwards:', rows[2]);
publisher.close();
const isSeen =
  rows.map((row) => row.topics).join(' ') === 'login login,logout login,logout,upload' &&
  rows.every((row) => row.hasSubscriptions && !row.matchesUpload);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
