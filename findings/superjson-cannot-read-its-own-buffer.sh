#!/usr/bin/env bash
# superjson 2.2.7: `stringify()` accepts a Buffer, and `parse()` throws on the text.
# Expected: a Buffer is a Uint8Array, which superjson carries since 2.2, so it comes back as one or is refused by the sender.
# Seen: the sender writes the class name "Buffer" as the type, and the reader knows no such one. One Buffer makes the whole message unreadable.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund superjson@2.2.7 >/dev/null
cat >program.mjs <<'PROGRAM'
import superjson from 'superjson';

function attempt(work) {
  try {
    return work();
  } catch (error) {
    return error.message;
  }
}

const plain = superjson.stringify({ id: 1, bytes: Uint8Array.of(97, 98) });
const text = superjson.stringify({ id: 1, bytes: Buffer.from('ab') });
const [fromPlain, fromBuffer] = [plain, text].map((each) => attempt(() => superjson.parse(each)));
console.log('Uint8Array:', plain, '->', fromPlain);
console.log('Buffer:', text, '->', fromBuffer);
const isSeen = fromPlain.bytes instanceof Uint8Array && /unknown typed array/.test(fromBuffer);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
