#!/usr/bin/env bash
# mt940js 1.3.5: its middlewares run in the opposite order for every second statement.
# Expected: the same order for each statement of a text. The README: "Middlewares are called in the order of appending".
# Seen: the parser reverses its own list for each statement, so the second one that was appended comes first for the statements 2 and 4.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mt940js@1.3.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Parser } from 'mt940js';

const statement = (number) =>
  [`:20:S${number}`, ':25:12345', `:28C:${number}/1`, ':60F:C240603EUR10,00', ':61:2406030603C5,00NTRFNONREF', ':86:LUNCH', ':62F:C240603EUR15,00'].join('\n');
const text = [1, 2, 3, 4].map((number) => `${statement(number)}\n`).join('');
const parser = new Parser();
parser.usePostParse((one, next) => {
  one.balance = one.closingBalance;
  next();
});
parser.usePostParse((one, next) => {
  one.report = `balance ${one.balance}`;
  next();
});
const reports = parser.parse(text).map(({ report }) => report);
console.log('the first middleware sets the balance, the second one reads it:', reports);
const isSeen = reports.join() === 'balance 15,balance undefined,balance 15,balance undefined';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
