#!/usr/bin/env bash
# @minhducsun2002/leb128 1.0.0, @thi.ng/leb128 3.1.93: -1 is written as 0, and -128 is read as -1.
# Expected: each number as it was. The README calls it "LEB128 numbers, done right" and shows that -128383 comes back.
# Seen: `encode()` writes the single byte 0 for -1 and for -128, so a decoder of another make reads 0. -64 is written right and read as -0.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @minhducsun2002/leb128@1.0.0 @thi.ng/leb128@3.1.93 >/dev/null
cat >program.mjs <<'PROGRAM'
import { LEB128 } from '@minhducsun2002/leb128';
import { decodeSLEB128, encodeSLEB128 } from '@thi.ng/leb128';

const hex = (bytes) => Buffer.from(bytes).toString('hex');
const rows = [-128383, -129, -128, -65, -64, -2, -1].map((sent) => {
  const bytes = LEB128.encode(sent);
  return [sent, hex(bytes), LEB128.decode(bytes, 0, true), Number(decodeSLEB128(bytes)[0]), hex(encodeSLEB128(sent))];
});
for (const [sent, bytes, own, other, right] of rows)
  console.log(`${sent} (${right}): written as ${bytes}, read as`, own, 'and by @thi.ng/leb128 as', other);
const isSeen =
  rows.map(([sent, bytes]) => `${sent} ${bytes}`).join() === '-128383 819578,-129 ff7e,-128 00,-65 3f,-64 40,-2 7e,-1 00' &&
  rows.map(([, , own]) => (Object.is(own, -0) ? '-0' : own)).join() === '-128383,-129,-1,-1,-0,-2,-1' &&
  rows.map(([, , , other]) => other).join() === '-128383,-129,0,63,-64,-2,0';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
