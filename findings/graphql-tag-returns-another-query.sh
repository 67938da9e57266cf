#!/usr/bin/env bash
# graphql-tag 2.12.7, graphql 16.15.0: `gql` returns an earlier query if the two differ only in a comma or in spaces inside a string.
# Expected: two documents. The README: one uses `===` "to compare queries to check if they are identical". GraphQL ignores commas and spaces outside strings alone.
# Seen: the cache of `gql` ignores them inside strings too. The second query is the first one, so a server looks for another name.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund graphql-tag@2.12.7 graphql@16.15.0 >/dev/null
cat >program.mjs <<'PROGRAM'
import loaded from 'graphql-tag';
import { parse, visit } from 'graphql';

const gql = loaded.gql ?? loaded;
const textsOf = (document) => {
  const texts = [];
  visit(document, { StringValue: ({ value }) => void texts.push(value) });
  return texts.join();
};
const pairs = [
  ['"Doe, Ann"', '"Doe Ann"'],
  ['"a b"', '"a  b"'],
  ['"""\nfirst\nsecond\n"""', '"""\nfirst second\n"""'],
];
let isSeen = true;
for (const [first, second] of pairs) {
  const [one, other] = [first, second].map((text) => `{ find(name: ${text}) { id } }`);
  const documents = [gql(one), gql(other)];
  const isSame = documents[0] === documents[1];
  console.log('asked for', JSON.stringify(textsOf(parse(other))), 'after', JSON.stringify(textsOf(parse(one))), '- the document holds', JSON.stringify(textsOf(documents[1])));
  isSeen &&= isSame && textsOf(documents[1]) === textsOf(parse(one)) && textsOf(parse(one)) !== textsOf(parse(other));
}
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
