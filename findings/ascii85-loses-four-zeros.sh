#!/usr/bin/env bash
# ascii85 1.0.2, z85 0.0.2: the ZeroMQ codec loses four bytes of zeros.
# Expected: the bytes as they were sent, and the text that ZeroMQ's Z85 and the package z85 write.
# Seen: `ZeroMQ.encode()` writes "z" for four zeros, as Ascii85 does; in Z85 it is a digit. Its own `decode()` returns no bytes for it.
# With other bytes behind the zeros it returns bytes that were never sent.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ascii85@1.0.2 z85@0.0.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import ascii85 from 'ascii85';
import z85 from 'z85';

const { ZeroMQ } = ascii85;
const rows = ['01020304', '00000000', '0000000001020304'].map((sent) => {
  const bytes = Buffer.from(sent, 'hex');
  const text = ZeroMQ.encode(bytes).toString();
  return [sent, text, ZeroMQ.decode(text).toString('hex'), z85.encode(bytes)];
});
for (const [sent, text, read, other] of rows) console.log(`${sent}: written as ${text}, read as "${read}"; z85 writes ${other}`);
const isSeen = rows.join(' ') === '01020304,0rJua,01020304,0rJua 00000000,z,,00000 0000000001020304,z0rJua,6ce92d45,000000rJua';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
