#!/usr/bin/env bash
# generate-schema 2.6.0: the JSON Schema of an array with numbers and texts refuses the very array it was generated from.
# Expected: a schema that the sample meets. The package converts "your JSON Object to JSON Schema".
# Seen: `oneOf` lists the first item's type at least twice, and demands exactly one match. So each item of that type is refused.
# An array of one type, or with integers and fractions, is accepted.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund generate-schema@2.6.0 ajv@8.20.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import Ajv from 'ajv';
import generator from 'generate-schema';

const samples = [{ row: [1, 'a'] }, { row: ['a', 1] }, { row: ['a', 'b', true] }, { row: [1, 2.5] }, { row: ['a', 'b'] }];
const seen = samples.map((sample) => {
  const { $schema: _, ...schema } = generator.json('Sample', sample);
  const ajv = new Ajv();
  const isValid = ajv.validate(schema, sample);
  console.log(JSON.stringify(sample), 'items:', JSON.stringify(schema.properties.row.items), isValid ? 'valid' : ajv.errorsText());
  return isValid;
});
const isSeen = seen.join() === 'false,false,false,true,true';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
