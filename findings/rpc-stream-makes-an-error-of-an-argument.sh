#!/usr/bin/env bash
# rpc-stream 2.1.2: a first argument with a key `message` reaches the remote function as an Error, and writes itself without that key.
# Expected: a plain object arrives as a plain object. Only the error of a callback is one.
# Seen: the receiver makes an Error of the first argument of calls too, so `JSON.stringify()` loses the text. Any other key is kept.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rpc-stream@2.1.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import rpc from 'rpc-stream';

setTimeout(() => process.exit(1), 20_000).unref();
const server = rpc({
  post: (entry, callback) => callback(null, { isError: entry instanceof Error, stored: JSON.stringify(entry) }),
});
const client = rpc();
client.pipe(server).pipe(client);
const { post } = client.wrap(['post']);
const seen = [];
for (const entry of [
  { to: 'Ann', text: 'hello' },
  { to: 'Ann', message: 'hello' },
]) {
  seen.push(await new Promise((resolve) => post(entry, (error, result) => resolve({ sent: JSON.stringify(entry), ...result }))));
}
console.log(seen);
const isSeen =
  JSON.stringify(seen) ===
  JSON.stringify([
    { sent: '{"to":"Ann","text":"hello"}', isError: false, stored: '{"to":"Ann","text":"hello"}' },
    { sent: '{"to":"Ann","message":"hello"}', isError: true, stored: '{"to":"Ann"}' },
  ]);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
