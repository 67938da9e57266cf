#!/usr/bin/env bash
# @plist/binary.parse 1.1.0 beside plist 5.0.0: an integer from 128 to 255 is read as a negative number.
# Expected: 128. A binary property list writes integers of one, two and four bytes without a sign; a negative one has eight bytes.
# Seen: the parser reads those bytes with a sign: 128 is -128, 65535 is -1 and 2^31 is -2^31. It reads the bytes of @plist/binary.serialize so, and those of plist.
# plist reads the same bytes right.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @plist/binary.parse@1.1.0 @plist/binary.serialize@1.1.0 plist@5.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { parse } from '@plist/binary.parse';
import { serialize } from '@plist/binary.serialize';
import { buildBinary, parseBinary } from 'plist';

const sent = [127, 128, 200, 255, 256, 32768, 65535, 65536, 2 ** 31];
const bytes = sent.map((value) => serialize({ value }));
const own = bytes.map((list) => parse(list).value);
const others = sent.map((value) => parse(Uint8Array.from(buildBinary({ value })).buffer).value);
const right = bytes.map((list) => parseBinary(new Uint8Array(list)).value);
console.log('sent:', sent.join(' '));
console.log('@plist/binary.parse:', own.join(' '));
console.log('@plist/binary.parse, of bytes from plist:', others.join(' '));
console.log('plist:', right.join(' '));
const isSeen =
  own.join() === `127,-128,-56,-1,256,-32768,-1,65536,${-(2 ** 31)}` && own.join() === others.join() && right.join() === sent.join();
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
