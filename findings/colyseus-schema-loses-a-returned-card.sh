#!/usr/bin/env bash
# @colyseus/schema 5.0.34: after `shift()` and `unshift()` within one patch, a client's array differs from its server's.
# Expected: each client has the server's array after each patch. The README says: "Change tracking, encoding and decoding happen for you".
# Seen: a server that looks at the top card and puts it back has four cards, and each client has three. After `shift()` and `sort()` each has three jacks.
# The same two calls with a patch between them arrive, and so does the whole state at a client that joins later.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @colyseus/schema@5.0.34 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Decoder, Encoder, schema, t } from '@colyseus/schema';

const Game = schema({ deck: t.array('string') }, 'Game');

/** The server's deck after these steps, and that of a client which gets a patch after each step. */
function play(...steps) {
  const server = new Game();
  server.deck.push('ace', 'king', 'queen', 'jack');
  const encoder = new Encoder(server);
  const client = new Game();
  const decoder = new Decoder(client);
  decoder.decode(encoder.encodeAll());
  encoder.discardChanges();
  for (const step of steps) {
    step(server.deck);
    decoder.decode(encoder.encode());
    encoder.discardChanges();
  }
  const late = new Game();
  new Decoder(late).decode(encoder.encodeAll());
  return [server, client, late].map(({ deck }) => [...deck].join(' ')).join(' | ');
}

const seen = {
  'look at the top card': play((deck) => deck.unshift(deck.shift())),
  'the same in two patches': play(
    (deck) => deck.shift(),
    (deck) => deck.unshift('ace'),
  ),
  'take a card and sort': play((deck) => {
    deck.shift();
    deck.sort();
  }),
};
console.log('server | client | client that joins later:', seen);
const isSeen =
  Object.values(seen).join('; ') ===
  [
    'ace king queen jack | ace queen jack | ace king queen jack',
    'ace king queen jack | ace king queen jack | ace king queen jack',
    'jack king queen | jack jack king jack | jack king queen',
  ].join('; ');
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
