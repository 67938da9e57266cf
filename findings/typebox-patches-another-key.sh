#!/usr/bin/env bash
# typebox 1.4.3, @sinclair/typebox 0.34.52: a patch of the key "text/html" changes the key "html" of "text" instead.
# Expected: the new value. `Value.Patch()` reads paths as JSON Pointers, in which `~1` is a slash within a key.
# Seen: `Value.Diff()` writes the key as it is, so `Value.Patch()` takes its slash for a level.
# Where that level does not exist, typebox throws "Cannot set value", and @sinclair/typebox adds it.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @sinclair/typebox@0.34.52 typebox@1.4.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Value as Old } from '@sinclair/typebox/value';
import Value from 'typebox/value';

const changes = [
  [
    { text: { html: 1, plain: 1 }, 'text/html': 1 },
    { text: { html: 1, plain: 1 }, 'text/html': 2 },
  ],
  [{ 'text/html': 1 }, { 'text/html': 2 }],
  [{ 'text-html': 1 }, { 'text-html': 2 }],
];
const seen = changes.map(([from, to]) => {
  const results = [Value, Old].map((library) => {
    try {
      return JSON.stringify(library.Patch(from, library.Diff(from, to)));
    } catch (error) {
      return error.message;
    }
  });
  console.log('sent:', JSON.stringify(to));
  console.log('  typebox:', results[0]);
  console.log('  @sinclair/typebox:', results[1]);
  return results.join(' ');
});
const wrong = '{"text":{"html":2,"plain":1},"text/html":1}';
const isSeen =
  seen[0] === `${wrong} ${wrong}` &&
  seen[1] === 'Cannot set value {"text/html":1,"text":{"html":2}}' &&
  seen[2] === '{"text-html":2} {"text-html":2}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
