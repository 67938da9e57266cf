#!/usr/bin/env bash
# hjson 3.2.2: `stringify()` writes a text with a colon so that `parse()` reads an object: "18:02" becomes { 18: '02' }.
# Expected: the text. `stringify()` puts other texts that would be read as something else, such as "true" or "{a", in quotes.
# Seen: a text on its own is written without quotes. An Hjson document may leave out its outer braces, so the part before the colon is taken as a key.
# "http://example.org" loses all but "http", since two slashes begin a comment. Within an array or an object each of them arrives.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund hjson@3.2.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import Hjson from 'hjson';

const texts = ['18:02', 'ready: true', 'http://example.org', 'true', '{a', 'ready'];
const seen = texts.map((text) => {
  const [written, nested] = [Hjson.stringify(text), Hjson.parse(Hjson.stringify([text]))];
  const read = Hjson.parse(written);
  console.log(
    JSON.stringify(text),
    'is written as',
    written,
    'and read as',
    JSON.stringify(read),
    'in an array as',
    JSON.stringify(nested[0]),
  );
  return [JSON.stringify(read), nested[0] === text].join();
});
const isSeen = seen.join(' ') === '{"18":"02"},true {"ready":true},true {"http":""},true "true",true "{a",true "ready",true';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
