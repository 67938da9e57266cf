#!/usr/bin/env bash
# multipart-formdata 1.1.0: a form's text of two lines is read as its first line.
# Expected: the README says that the parser extracts "any data fields", so a textarea's value arrives as it was sent.
# Seen: `field` holds the first line, and `data` the others. For a text of one line, `data` holds a boundary; a file's bytes arrive.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund multipart-formdata@1.1.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import multipart from 'multipart-formdata';

const part = (name, text, rest = '') => `--line\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n${text}\r\n`;
const file = part('file', 'Dear Ann,\r\nthank you!', '; filename="a.txt"\r\nContent-Type: text/plain');
const body = Buffer.from(`${part('city', 'Oslo')}${part('note', 'Dear Ann,\r\nthank you!')}${file}--line--\r\n`);
const read = multipart.parse(body, 'line').map(({ name, field, data }) => ({ name, field, data: String(data) }));
for (const one of read) console.log(one);
const [city, note, ofFile] = read;
const isSeen =
  city.field === 'Oslo' &&
  note.field === 'Dear Ann,' &&
  note.data === 'thank you!' &&
  ofFile.data === 'Dear Ann,\r\nthank you!';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
