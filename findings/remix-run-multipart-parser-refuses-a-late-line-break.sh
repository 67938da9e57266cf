#!/usr/bin/env bash
# @remix-run/multipart-parser 0.16.3: a complete body fails if its last line break arrives on its own.
# Expected: the README says that it "processes multipart bodies incrementally", so the chunks of a body make no difference.
# Seen: with that line break in the same chunk, the parts are read. In a chunk of its own, it throws "Unexpected data after end of stream".
# A message with a text before its first boundary, which RFC 2046 allows, fails too.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @remix-run/multipart-parser@0.16.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { parseMultipartStream } from '@remix-run/multipart-parser';

const part = '--line\r\nContent-Disposition: form-data; name="city"\r\n\r\nOslo\r\n';

/** The fields that the parser reads of a body in these chunks, and its error if there is one. */
async function readOf(...chunks) {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
  const read = [];
  try {
    for await (const { name, text } of parseMultipartStream(body, { boundary: 'line' })) read.push(`${name}: ${text}`);
  } catch ({ message }) {
    read.push(message);
  }
  return read.join(', ');
}

const together = await readOf(`${part}--line--\r\n`);
const apart = await readOf(`${part}--line--`, '\r\n');
const behindText = await readOf(`This is a message of several parts.\r\n${part}--line--\r\n`);
console.log('in one chunk:', together);
console.log('with the last line break on its own:', apart);
console.log('behind a preamble:', behindText);
const isSeen =
  together === 'city: Oslo' &&
  apart === 'city: Oslo, Unexpected data after end of stream' &&
  behindText === 'Invalid multipart stream: missing initial boundary';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
