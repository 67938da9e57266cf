#!/usr/bin/env bash
# @gregoranders/csv 0.0.13, csv-parse 7.0.3: a doubled quote in a quoted field is refused, or lost.
# Expected: `"5"" disk"` is the text `5" disk`, by RFC 4180 and by csv-parse. The package parses CSV and has no option for quotes.
# Seen: `parse()` throws "Invalid CSV"; a field that is a quote alone is read as an empty text without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @gregoranders/csv@0.0.13 csv-parse@7.0.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import own from '@gregoranders/csv';
import { parse } from 'csv-parse/sync';

const Parser = own.default ?? own.Parser ?? own;
const read = (text) => {
  try {
    return JSON.stringify(new Parser().parse(text));
  } catch ({ message }) {
    return message;
  }
};
const texts = ['a,"b,c"\n', 'a,"5"" disk"\n', 'a,""""\n'];
const rows = texts.map((text) => [JSON.stringify(text), read(text), JSON.stringify(parse(text))]);
for (const [text, seen, right] of rows) console.log(`${text} -> ${seen}; csv-parse: ${right}`);
const isSeen =
  rows[0][1] === rows[0][2] &&
  rows[1][1].startsWith('Invalid CSV') &&
  rows[1][2] === '[["a","5\\" disk"]]' &&
  rows[2][1] === '[["a",""]]' &&
  rows[2][2] === '[["a","\\""]]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
