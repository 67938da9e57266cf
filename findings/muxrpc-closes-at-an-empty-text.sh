#!/usr/bin/env bash
# muxrpc 8.0.0: a method that returns an empty string closes the connection, with every other call and stream on it.
# Expected: '' arrives, as any other string does.
# Seen: the codec reads each message without bytes as the end of the connection. An empty Buffer and an empty item of a stream do the same.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund muxrpc@8.0.0 pull-stream@3.7.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import muxrpc from 'muxrpc';
import pull from 'pull-stream';

setTimeout(() => process.exit(1), 20_000).unref();
const manifest = { nickname: 'async', watch: 'source' };
const nicknames = { Ann: 'Annie', Bob: '' };
const api = {
  nickname: (name, callback) => callback(null, nicknames[name]),
  watch: () => (abort, callback) => abort && callback(abort),
};

/** What happens to two calls and to a stream of one connection. */
async function outcomes(name) {
  const [client, server] = [muxrpc(manifest, null), muxrpc(null, manifest, api)];
  pull(client.stream, server.stream, client.stream);
  let stream = 'open';
  pull(
    client.watch(),
    pull.onEnd((error) => {
      stream = error?.message ?? 'ended';
    }),
  );
  const settled = (promise) => promise.catch((error) => error.message);
  const first = await settled(client.nickname(name));
  const second = await settled(client.nickname('Ann'));
  return { first, second, stream, closed: client.closed };
}

const full = await outcomes('Ann');
const empty = await outcomes('Bob');
console.log('the method returns a text:', full);
console.log('the method returns an empty text:', empty);
const isSeen =
  JSON.stringify(full) === '{"first":"Annie","second":"Annie","stream":"open","closed":false}' &&
  JSON.stringify(empty) ===
    '{"first":"unexpected end of parent stream","second":"stream is closed","stream":"unexpected end of parent stream","closed":true}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
