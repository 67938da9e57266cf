#!/usr/bin/env bash
# structured-headers 2.1.0: a number close to a whole one is serialized as "2.", which no parser accepts.
# Expected: "2.0". A decimal of a structured field has at least one digit behind its point (RFC 9651, 4.1.5).
# Seen: `serializeItem(2.0004)` returns "2.", and `parseItem()` of the same package throws. 1e-7 becomes "0.".
# One such member makes a whole dictionary unreadable.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund structured-headers@2.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { parseDictionary, parseItem, serializeDictionary, serializeItem } from 'structured-headers';

/** What a function returns, or 'refused' if it throws. */
function outcome(parse) {
  try {
    return JSON.stringify(parse());
  } catch {
    return 'refused';
  }
}
const texts = [2.5, 2.0004, 1e-7].map((value) => serializeItem(value, new Map()));
const items = texts.map((text) => outcome(() => parseItem(text)[0]));
const dictionary = serializeDictionary(new Map([['load', [2.0004, new Map()]], ['queue', [3, new Map()]]]));
const ofDictionary = outcome(() => [...parseDictionary(dictionary).keys()]);
console.log('2.5, 2.0004 and 1e-7 are serialized as', texts);
console.log('and parsed as', items);
console.log('the dictionary', JSON.stringify(dictionary), 'is parsed as', ofDictionary);
const isSeen =
  texts.join(' ') === '2.5 2. 0.' && items.join() === '2.5,refused,refused' && dictionary === 'load=2., queue=3' && ofDictionary === 'refused';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
