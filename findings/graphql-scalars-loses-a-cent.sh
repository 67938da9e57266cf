#!/usr/bin/env bash
# graphql-scalars 2.0.0, graphql 16.15.0: the price "$19.99" is read as 1998.9999999999998 cents and written again as "$19.98".
# Expected: 1999, the whole number of cents that `USCurrency` writes as "$19.99".
# Seen: reading multiplies by 100 without rounding, so more than 1000 of 10 000 prices are wrong, and writing cuts the fraction off.
# "$1,234,567.00", which it writes itself, is read as 1234 dollars.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund graphql-scalars@2.0.0 graphql@16.15.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { GraphQLUSCurrency } from 'graphql-scalars';

const read = (text) => GraphQLUSCurrency.parseValue(text);
const write = (cents) => GraphQLUSCurrency.serialize(cents);
const rows = [1250, 1999, 123456700].map((cents) => [write(cents), read(write(cents)), write(read(write(cents)))]);
for (const [text, cents, again] of rows) console.log(`${text} is read as ${cents} cents and written again as ${again}`);
const wrong = Array.from({ length: 10_000 }, (_, cents) => cents).filter((cents) => read(write(cents)) !== cents);
console.log(wrong.length, 'of 10 000 prices are read wrong, and', wrong.filter((cents) => write(read(write(cents))) !== write(cents)).length, 'lose a cent');
const isSeen =
  rows.map((row) => row.join(' ')).join('; ') ===
    '$12.50 1250 $12.50; $19.99 1998.9999999999998 $19.98; $1,234,567.00 123400 $1,234.00' && wrong.length > 1000;
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
