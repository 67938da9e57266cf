#!/usr/bin/env bash
# edn-data 1.2.2, jsedn 0.4.1: two values with a comment between them are read as one.
# Expected: the README lists comments. In EDN a comment reaches to the next newline, and a newline separates values. jsedn reads it so.
# Seen: a comment that directly follows a number, a keyword or a symbol removes the line break too. `[10;min` and `20]` are read as [1020].
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund edn-data@1.2.2 jsedn@0.4.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { parseEDNString } from 'edn-data';
import jsedn from 'jsedn';

const options = { mapAs: 'object', keywordAs: 'string', symbolAs: 'string' };
const rows = ['[10 ;low\n20]', '[10;low\n20]', '[:low;or\n:high]', '[true;or\nfalse]', '["low";or\n"high"]'].map((text) => {
  const row = [parseEDNString(text, options), jsedn.toJS(jsedn.parse(text))].map((value) => JSON.stringify(value));
  console.log(JSON.stringify(text), '- edn-data:', row[0], 'jsedn:', row[1]);
  return row;
});
const isSeen =
  rows.map(([value]) => value).join(' ') === '[10,20] [1020] ["low:high"] ["truefalse"] ["low","high"]' &&
  rows.map(([, value]) => value).join(' ') === '[10,20] [10,20] [":low",":high"] [true,false] ["low","high"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
