#!/usr/bin/env bash
# xml-reader 2.4.3: an element inside a comment is read, and the end of that comment is read as text.
# Expected: a comment is no part of a document, as XML 1.0 says. One without a tag in it is skipped.
# Seen: a comment ends at its first ">". Of two prices in a comment, the second one is an element of the result, beside the text " -->".
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund xml-reader@2.4.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import XmlReader from 'xml-reader';

const show = ({ type, name, value, children }) => (type === 'text' ? value : { [name]: children.map(show) });
const rows = [
  '<shop><!-- not now --><price>5</price></shop>',
  '<shop><!-- <price>3</price> --><price>5</price></shop>',
  '<shop><!-- <price>3</price><price>4</price> --><price>5</price></shop>',
].map((xml) => {
  const text = JSON.stringify(show(XmlReader.parseSync(xml)));
  const found = [];
  const reader = XmlReader.create({ stream: true });
  reader.on('tag:price', ({ children }) => found.push(children[0].value));
  reader.parse(xml);
  console.log(xml, '-', text, 'prices:', found.join());
  return `${text} ${found.join()}`;
});
const isSeen =
  rows.join('; ') ===
  '{"shop":[{"price":["5"]}]} 5; {"shop":[" -->",{"price":["5"]}]} 5; {"shop":[{"price":["4"]}," -->",{"price":["5"]}]} 4,5';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
