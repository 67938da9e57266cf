#!/usr/bin/env bash
# mollitia 0.1.1: once a module behind the cache is switched off, each key gets the cached result of the first one.
# Expected: the documentation says that a result is cached "for one function", and "for the same parameters".
# Seen: the cache counts the modules that are not active too, and takes the parameters for theirs. So its key has no parameters, and `execute('banana')` resolves with the price of an apple.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mollitia@0.1.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Cache, Circuit, Retry } from 'mollitia';

const prices = { apple: 1.5, banana: 0.25, cherry: 8 };

/** The prices that a circuit returns, and the fruits that its function was called with. */
async function outcome(modules) {
  const calls = [];
  const func = async (fruit) => {
    calls.push(fruit);
    return prices[fruit];
  };
  const circuit = new Circuit({ func, options: { modules } });
  const results = [];
  for (const fruit of ['apple', 'banana', 'cherry']) results.push(await circuit.execute(fruit));
  circuit.dispose();
  return `${results.join(', ')} after calls with ${calls.join(', ')}`;
}

const cache = () => new Cache({ ttl: 60_000 });
const seen = [
  await outcome([cache()]),
  await outcome([cache(), new Retry({ attempts: 1 })]),
  await outcome([new Retry({ attempts: 1, active: false }), cache()]),
  await outcome([cache(), new Retry({ attempts: 1, active: false })]),
];
console.log('a cache:', seen[0]);
console.log('a cache before an active retry:', seen[1]);
console.log('a cache behind a retry that is switched off:', seen[2]);
console.log('a cache before a retry that is switched off:', seen[3]);
const right = '1.5, 0.25, 8 after calls with apple, banana, cherry';
const isSeen = seen.slice(0, 3).every((text) => text === right) && seen[3] === '1.5, 1.5, 1.5 after calls with apple';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
