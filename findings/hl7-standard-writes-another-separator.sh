#!/usr/bin/env bash
# hl7-standard 1.0.4: a field of two subcomponents is written as two repetitions.
# Expected: `transform()` and `build()` keep a message whose fields nobody has set. HL7 2.5 separates subcomponents with "&" and repetitions with "~".
# Seen: the order number `A7&LAB` is written as `A7~LAB`, so its assigner becomes a second number. Beside another component it stays.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund hl7-standard@1.0.4 >/dev/null
cat >program.mjs <<'PROGRAM'
import HL7 from 'hl7-standard';

const message = (parent) => ['MSH|^~\\&|LAB|HOSPITAL|WARD|HOSPITAL|20240603100000||ORM^O01|1|P|2.5|', `ORC|CH|||||||${parent}|`].join('\r');
const again = (text) => {
  const hl7 = new HL7(text, { lineEndings: '\r' });
  hl7.transform();
  return hl7.build();
};
const field = (text) => text.split('\r')[1].split('|')[8];
const sent = ['A7', 'A7~B8', 'A7&LAB^B8&WARD', 'A7&LAB'];
const seen = sent.map((parent) => field(again(message(parent))));
for (const [i, value] of seen.entries()) console.log(sent[i], 'is written as', value);
const isSeen = seen.join() === 'A7,A7~B8,A7&LAB^B8&WARD,A7~LAB';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
