#!/usr/bin/env bash
# @asyncapi/modelina 5.10.1: `marshal()` of a generated TypeScript class leaves a hole in the JSON for `0`, `false` or `''` in a tuple.
# Expected: the values that the schema allows and the class holds, as in an array of numbers.
# Seen: the position of Greenwich, [0, 51.48], is written as [,51.48], and `JSON.parse()` throws. `marshal()` itself reports nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @asyncapi/modelina@5.10.1 typescript@5.9.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import { TS_COMMON_PRESET, TypeScriptGenerator } from '@asyncapi/modelina';
import ts from 'typescript';

setTimeout(() => process.exit(1), 20_000).unref();
const number = { type: 'number' };
const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'Place',
  type: 'object',
  properties: {
    tuple: { type: 'array', items: [number, number], additionalItems: false },
    array: { type: 'array', items: number },
  },
  additionalProperties: false,
};
const generator = new TypeScriptGenerator({
  modelType: 'class',
  presets: [{ preset: TS_COMMON_PRESET, options: { marshalling: true } }],
});
const [{ result }] = await generator.generate(schema);
const Place = new Function(`${ts.transpile(result, { target: ts.ScriptTarget.ES2022 })}\nreturn Place;`)();

const positions = [
  [13.4, 52.52],
  [0, 51.48],
];
const seen = positions.map((position) => new Place({ tuple: position, array: position }).marshal().replaceAll(' ', ''));
console.log('positions:', positions);
console.log('written:', seen);
const isSeen = seen.join() === '{"tuple":[13.4,52.52],"array":[13.4,52.52]},{"tuple":[,51.48],"array":[0,51.48]}';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
