#!/usr/bin/env bash
# @ssttevee/multipart-parser 0.1.9 and @web3-storage/multipart-parser 1.0.0: a complete body fails if its last two dashes arrive apart.
# Expected: the READMEs promise a parser "for use with ReadableStreams", so the same bytes yield the same parts in whatever chunks they arrive.
# Seen: a body that is cut in two between the last two dashes fails with "unexpected end of stream". At all other places the cut changes nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ssttevee/multipart-parser@0.1.9 @web3-storage/multipart-parser@1.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { iterateMultipart } from '@ssttevee/multipart-parser';
import { iterateMultipart as iterateFork } from '@web3-storage/multipart-parser';

const head = (name) => `Content-Disposition: form-data; name="${name}"\r\n\r\n`;
const text = `--line\r\n${head('city')}Oslo\r\n--line\r\n${head('note')}call back\r\n--line--\r\n`;
const bytes = Buffer.from(text);

/** The fields that a parser reads of a body in two chunks, or its error. */
async function readOf(iterate, end) {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes.subarray(0, end)));
      controller.enqueue(new Uint8Array(bytes.subarray(end)));
      controller.close();
    },
  });
  const fields = [];
  try {
    for await (const { name, data } of iterate(body, 'line')) fields.push(`${name}: ${Buffer.from(data)}`);
  } catch ({ message }) {
    return message;
  }
  return fields.join(', ');
}

let isSeen = true;
for (const [name, iterate] of Object.entries({ '@ssttevee': iterateMultipart, '@web3-storage': iterateFork })) {
  const failures = [];
  for (let end = 1; end < bytes.length; end += 1) {
    const read = await readOf(iterate, end);
    if (read !== 'city: Oslo, note: call back') failures.push(`${JSON.stringify(text.slice(0, end).slice(-7))} + ${JSON.stringify(text.slice(end))}: ${read}`);
  }
  console.log(`${name} fails at ${failures.length} of ${bytes.length - 1} places:`, failures.join('; '));
  isSeen &&= failures.length === 1 && failures[0] === '"--line-" + "-\\r\\n": malformed multipart-form data: unexpected end of stream';
}
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
