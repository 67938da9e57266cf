#!/usr/bin/env bash
# zod 4.6.7, ajv 8.20.0, ajv-formats 3.0.1: `toJSONSchema()` writes formats that JSON Schema does not know, and Ajv refuses the whole schema.
# Expected: a schema that Ajv compiles. The documentation lists the functions that write a `format`, and says that "all other string formats are supported via `pattern`".
# Seen: `includes()`, `startsWith()`, `lowercase()` or `cuid2()` writes its pattern, and beside it a format such as "starts_with".
# `regex()` with the same pattern writes no format, and compiles.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund zod@4.6.7 ajv@8.20.0 ajv-formats@3.0.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';

const schemas = {
  email: z.email(),
  'regex(/^a.*/)': z.string().regex(/^a.*/),
  "startsWith('a')": z.string().startsWith('a'),
  "includes('-')": z.string().includes('-'),
  lowercase: z.string().lowercase(),
  cuid2: z.cuid2(),
};
const rows = {};
for (const [name, schema] of Object.entries(schemas)) {
  const { format, pattern } = z.toJSONSchema(schema);
  const ajv = new Ajv.default();
  addFormats.default(ajv);
  let compiled;
  try {
    ajv.compile(z.toJSONSchema(z.object({ key: schema })));
    compiled = 'compiles';
  } catch (error) {
    compiled = error.message;
  }
  rows[name] = { format, pattern: pattern.slice(0, 12), compiled };
}
console.table(rows);
const isSeen = Object.values(rows).every(({ format, compiled }, i) =>
  i < 2 ? compiled === 'compiles' : compiled.startsWith(`unknown format "${format}"`),
);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
