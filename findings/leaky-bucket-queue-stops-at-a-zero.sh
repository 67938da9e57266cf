#!/usr/bin/env bash
# leaky-bucket-queue 0.0.2: a queued 0, `false` or '' is lost, and the values behind it wait for the next call of `enqueue()`.
# Expected: each value is emitted, one per period once the burst is used up, as its README says.
# Seen: the queue takes such a value for its own end. It drops the value and stops its timer, also with values behind it.
# So of the readings 3, 0, 5 only the first arrives.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund leaky-bucket-queue@0.0.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { setTimeout as delay } from 'node:timers/promises';
import leaky from 'leaky-bucket-queue';

setTimeout(() => process.exit(1), 20_000).unref();

/** What a queue emits of readings within 50 periods, and after one more reading. */
async function valuesOf(...readings) {
  const queue = new leaky.LeakyBucketQueue({ burstSize: 1, period: 20 });
  const values = [];
  queue.consume().subscribe((value) => values.push(value));
  for (const reading of readings) queue.enqueue(reading);
  await delay(1000);
  const first = values.join();
  queue.enqueue(9);
  await delay(1000);
  queue.stop();
  return [first, values.join()].join('; ');
}

const ofOnes = await valuesOf(3, 1, 5);
const ofZeros = await valuesOf(3, 0, 5);
console.log('3, 1, 5, and then 9:', ofOnes);
console.log('3, 0, 5, and then 9:', ofZeros);
const isSeen = ofOnes === '3,1,5; 3,1,5,9' && ofZeros === '3; 3,5,9';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
