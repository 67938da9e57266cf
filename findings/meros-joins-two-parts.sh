#!/usr/bin/env bash
# meros 1.3.2: two parts of a response are read as one if a boundary is split between two chunks.
# Expected: three parts of JSON are three objects, in whatever chunks they arrive. The README promises to make "reading multipart responses simple".
# Seen: the search for a boundary starts with the new chunk, so it finds the next one and skips the one that is split.
# Two parts then arrive as one text with the boundary inside and `json: false`. If it is the first boundary, the first part is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund meros@1.3.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import { meros } from 'meros/browser';

const part = (value) => `\r\n---\r\nContent-Type: application/json; charset=utf-8\r\n\r\n${JSON.stringify(value)}`;
const text = `${part('one')}${part('two')}${part('three')}\r\n-----\r\n`;

/** The parts that are read of a response that arrives in these chunks. */
async function partsOf(...chunks) {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
  const response = new Response(body, { headers: { 'content-type': 'multipart/mixed; boundary="-"' } });
  const parts = [];
  for await (const { json, body } of await meros(response)) parts.push(json ? body : `no JSON: ${JSON.stringify(body)}`);
  return parts;
}
const splitAt = (index) => [text.slice(0, index), text.slice(index)];
const second = text.indexOf('\r\n---', 5);
const whole = await partsOf(text);
const behindLineBreak = await partsOf(...splitAt(second + 2));
const inFirst = await partsOf(...splitAt(4));
console.log('in one chunk:', whole);
console.log('with the second boundary split:', behindLineBreak);
console.log('with the first boundary split:', inFirst);
const isSeen =
  whole.join() === 'one,two,three' &&
  behindLineBreak.length === 2 &&
  /^no JSON: .*one.*---.*two/.test(behindLineBreak[0]) &&
  behindLineBreak[1] === 'three' &&
  inFirst.join() === 'two,three';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
