#!/usr/bin/env bash
# expect 30.5.2: `toStrictEqual` finds a parsed object with a key `constructor` unequal to the same object, and an invalid Date to another.
# Expected: two values of the same JSON text are equal, and an invalid Date equals another one, as NaN equals NaN.
# Seen: both fail with "serializes to the same string". `toEqual` accepts the object, and refuses the dates too.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund expect@30.5.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { expect } from 'expect';

const parsed = () => JSON.parse('{"constructor":{"a":1}}');
const invalid = () => new Date(NaN);
const checks = {
  'NaN toStrictEqual': () => expect(NaN).toStrictEqual(NaN),
  'the object toEqual': () => expect(parsed()).toEqual(parsed()),
  'the object toStrictEqual': () => expect(parsed()).toStrictEqual(parsed()),
  'the dates toEqual': () => expect(invalid()).toEqual(invalid()),
};
const seen = Object.entries(checks).map(([name, check]) => {
  let passes = true;
  try {
    check();
  } catch {
    passes = false;
  }
  console.log(`${name}: ${passes ? 'passes' : 'fails'}`);
  return passes;
});
const isSeen = String(seen) === 'true,true,false,false';
console.log(isSeen ? 'seen' : 'the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
