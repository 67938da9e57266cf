#!/usr/bin/env bash
# json-2-csv 5.6.0: a row whose value is "," takes the next row with it.
# Expected: `csv2json(json2csv(rows))` equals the rows. The README promises "RFC 4180 Compliance".
# Seen: a quoted field that holds a comma alone is read as empty, and the row behind it is lost. In the first column it takes the rest of the text.
# A field like "a,b" or ", " is read right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund json-2-csv@5.6.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import converter from 'json-2-csv';

const { csv2json, json2csv } = converter;
const lists = [
  [{ column: 'name', mark: 'a,b' }, { column: 'city', mark: 'x' }],
  [{ column: 'name', mark: ',' }, { column: 'city', mark: 'x' }],
  [{ mark: ',', column: 'name' }, { mark: 'x', column: 'city' }],
];
const texts = lists.map((list) => json2csv(list));
const seen = texts.map((text) => JSON.stringify(csv2json(text)));
for (const [i, read] of seen.entries()) console.log(JSON.stringify(texts[i]), 'is read as', read);
const isSeen =
  texts[1] === 'column,mark\nname,","\ncity,x' &&
  seen[0] === JSON.stringify(lists[0]) &&
  seen[1] === '[{"column":"name","mark":""}]' &&
  seen[2] === '[{"mark":"","column":"\\",name\\nx,city"}]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
