#!/usr/bin/env bash
# structured-headers 2.1.0: a date is parsed only if nothing follows it.
# Expected: `@1659578233;a=1` and `a=@1659578233, b=1` are parsed. A date may have parameters and neighbours like any other item (RFC 9651).
# Seen: both throw a ParseError, and so does each list of two dates, although the package itself serializes them. structured-field-values parses all of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund structured-headers@2.1.0 structured-field-values@2.0.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import { decodeDict, decodeItem, decodeList } from 'structured-field-values';
import { parseDictionary, parseItem, parseList, serializeItem, serializeList } from 'structured-headers';

/** Whether a function throws. */
function fails(read) {
  try {
    read();
    return false;
  } catch {
    return true;
  }
}
const [first, second] = [new Date(1659578233_000), new Date(1659578234_000)];
const item = serializeItem(first, new Map([['a', 1]]));
const list = serializeList([[first, new Map()], [second, new Map()]]);
const seen = [
  ['@1659578233', parseItem, decodeItem],
  [item, parseItem, decodeItem],
  [list, parseList, decodeList],
  ['a=@1659578233, b=1', parseDictionary, decodeDict],
].map(([text, parse, decode]) => ({ text, isRefused: fails(() => parse(text)), isRefusedByOther: fails(() => decode(text)) }));
console.table(seen);
const isSeen =
  seen.map(({ text }) => text).join('|') === '@1659578233|@1659578233;a=1|@1659578233, @1659578234|a=@1659578233, b=1' &&
  seen.map(({ isRefused }) => isRefused).join() === 'false,true,true,true' &&
  seen.every(({ isRefusedByOther }) => !isRefusedByOther);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
