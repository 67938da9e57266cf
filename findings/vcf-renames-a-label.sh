#!/usr/bin/env bash
# vcf 2.1.2: the property X-ABLabel, in which Apple's address book keeps a custom label, is renamed as a card is read and written.
# Expected: `toString()` writes the properties that `parse()` has read. A vCard ignores the case of a name, but not its hyphens.
# Seen: the parser turns a name into camelCase, and the writer puts a hyphen before each capital. "X-ABLabel" becomes "X-AB-LABEL".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund vcf@2.1.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import vCard from 'vcf';

const lines = [
  'BEGIN:VCARD',
  'VERSION:3.0',
  'FN:Ann Doe',
  'N:Doe;Ann;;;',
  'item1.URL:https://example.org',
  'item1.X-ABLabel:blog',
  'X-PhoneticName:an',
  'X-PHONETIC-FIRST-NAME:an',
  'END:VCARD',
];
const written = new vCard().parse(lines.join('\r\n')).toString().split('\r\n');
const nameOf = (line) => line.split(':')[0].toUpperCase();
const changes = [];
for (const [i, line] of lines.entries()) {
  if (nameOf(line) !== nameOf(written[i])) changes.push(`${line} -> ${written[i]}`);
}
console.log(`${changes.length} of ${lines.length} lines have another name:`, changes.join('; '));
const again = new vCard().parse(written.join('\r\n'));
console.log('read again:', Object.keys(again.data).join());
const isSeen = changes.join() === 'item1.X-ABLabel:blog -> item1.X-AB-LABEL:blog,X-PhoneticName:an -> X-PHONETIC-NAME:an';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
