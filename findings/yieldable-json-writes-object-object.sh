#!/usr/bin/env bash
# yieldable-json 2.1.0: an object that `toJSON()` returns is written as the text "[object Object]".
# Expected: what `JSON.stringify()` writes. The README: "the value returned by the `toJSON()` method when called will be serialized".
# Seen: `stringifyAsync()` makes a text of the returned value: an object becomes "[object Object]" and a number a text.
# `[undefined, 1]` becomes `[1]`, so each later item changes its place.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund yieldable-json@2.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { promisify } from 'node:util';
import yieldable from 'yieldable-json';

const stringifyAsync = promisify(yieldable.stringifyAsync);
class Money {
  constructor(amount) {
    this.amount = amount;
  }
  toJSON() {
    return { amount: this.amount, currency: 'EUR' };
  }
}
class Duration {
  toJSON() {
    return 90;
  }
}
const sent = [{ price: new Money(5) }, { took: new Duration() }, { at: new Date(0) }, [undefined, 1], Buffer.from('ab')];
const seen = [];
for (const value of sent) seen.push(await stringifyAsync(value));
for (const [i, text] of seen.entries()) console.log(JSON.stringify(sent[i]), 'is written as', text);
const isSeen = seen.join(' ') === '{"price":"[object Object]"} {"took":"90"} {"at":"1970-01-01T00:00:00.000Z"} [1] "[object Object]"';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
