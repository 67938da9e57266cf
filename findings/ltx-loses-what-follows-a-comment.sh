#!/usr/bin/env bash
# ltx 3.1.2, saxes 6.0.0: text that follows a comment or a CDATA section is lost.
# Expected: the text of an element is whole. The README: ltx parses "XML strings" and "XML streams". saxes, which the README lists as another parser, reads all of it.
# Seen: after a comment, a CDATA section or a processing instruction, the default parser drops everything up to the next tag.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ltx@3.1.2 saxes@6.0.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import { parse } from 'ltx';
import { SaxesParser } from 'saxes';

const textBySaxes = (xml) => {
  const parser = new SaxesParser();
  let text = '';
  parser.on('text', (piece) => (text += piece));
  parser.on('cdata', (piece) => (text += piece));
  parser.write(xml).close();
  return text;
};
const rows = [
  '<note>one <!-- aside --> two</note>',
  '<note><![CDATA[one]]> two</note>',
  '<note>one <?aside?> two</note>',
  '<note>one <b/> two</note>',
].map((xml) => {
  const row = { xml, ltx: parse(xml).getText(), saxes: textBySaxes(xml) };
  console.log(JSON.stringify(row));
  return row;
});
const isSeen =
  JSON.stringify(rows.map(({ ltx }) => ltx)) === '["one ","one","one ","one  two"]' &&
  JSON.stringify(rows.map(({ saxes }) => saxes)) === '["one  two","one two","one  two","one  two"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
