#!/usr/bin/env bash
# rhea 3.0.5: a BigInt in a message is sent as an empty map, and NaN as `null`.
# Expected: AMQP 1.0 has a `long` of 64 bits and a `double` with NaN. `wrap_double(NaN)` sends NaN, and a number too large throws.
# Seen: `encode()` accepts both, and nothing is reported; the receiver reads `{}` and `null`.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund rhea@3.0.5 >/dev/null
cat >program.mjs <<'PROGRAM'
import { isDeepStrictEqual } from 'node:util';
import rhea from 'rhea';

const { message, types } = rhea;
const received = message.decode(
  message.encode({ body: { id: 9007199254740993n, mean: NaN, wrapped: types.wrap_double(NaN), count: 3 }, application_properties: { id: 10n } }),
);
console.log('the body:', received.body);
console.log('the properties:', received.application_properties);
let refusal;
try {
  message.encode({ body: 1e20 });
} catch ({ message: text }) {
  refusal = text;
}
console.log('1e20:', refusal);
const isSeen =
  isDeepStrictEqual(received.body, { id: {}, mean: null, wrapped: NaN, count: 3 }) &&
  isDeepStrictEqual(received.application_properties, { id: {} }) &&
  /out of range/.test(refusal);
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
