#!/usr/bin/env bash
# capnweb 0.12.0: an object arrives without its keys `constructor`, `valueOf` and every other name that `Object.prototype` has.
# Expected: the README lists "Plain objects (e.g. from object literals)" among the values that are passed, and JSON keeps each key.
# Seen: both directions drop these keys, and no end throws. A count of the words of a text loses the word "constructor".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund capnweb@0.12.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { newMessagePortRpcSession, RpcTarget } from 'capnweb';

setTimeout(() => process.exit(1), 20_000).unref();
const words = JSON.parse('{"the":9,"constructor":2,"valueOf":1,"toJSON":1}');

class Server extends RpcTarget {
  keysOf(counts) {
    return Object.keys(counts);
  }
  words() {
    return words;
  }
}
const { port1, port2 } = new MessageChannel();
newMessagePortRpcSession(port1, new Server());
const server = newMessagePortRpcSession(port2);

const sent = Object.keys(words);
const atServer = await server.keysOf(words);
const atClient = Object.keys(await server.words());
console.log('sent:', sent.join(', '));
console.log('arrived at the server:', atServer.join(', '));
console.log('arrived at the client:', atClient.join(', '));
const isSeen = sent.length === 4 && atServer.join() === 'the' && atClient.join() === 'the';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
