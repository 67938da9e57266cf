#!/usr/bin/env bash
# erlang_js 2.0.7: an integer of more than 32 bits is written without its upper bits.
# Expected: a time in milliseconds comes back as it was. The README: "Provides all encoding and decoding for the Erlang External Term Format".
# Seen: `term_to_binary()` keeps the lower 32 bits: 1700000000000 becomes 3487918080 and 2^32 becomes 0, without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund erlang_js@2.0.7 >/dev/null
cat >program.mjs <<'PROGRAM'
import { promisify } from 'node:util';
import erlang from 'erlang_js';

const { Erlang } = erlang;
const encode = promisify(Erlang.term_to_binary);
const decode = promisify(Erlang.binary_to_term);
const sent = [-1, 2147483647, 4294967295, 4294967296, 1700000000000];
const seen = [];
for (const value of sent) seen.push(await decode(await encode(value)));
for (const [i, value] of seen.entries()) console.log(sent[i], 'is read as', value);
const isSeen = seen.join() === '-1,2147483647,4294967295,0,3487918080';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
