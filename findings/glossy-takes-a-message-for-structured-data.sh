#!/usr/bin/env bash
# glossy 0.1.7: a syslog message loses all words up to the last one that ends in a bracket.
# Expected: `message` is what follows the structured data. In RFC 5424, a space ends that data, and the message may contain any character.
# Seen: the parser takes all up to the last word that ends in "]" for structured data. `message` lacks these words, and may be empty.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund glossy@0.1.7 >/dev/null
cat >program.mjs <<'PROGRAM'
import glossy from 'glossy';

const head = '<165>1 2003-10-11T22:14:15.003Z mail.example.org sshd 7 ID47';
const data = '[example@32473 iut="3"]';
const rows = [
  `${head} ${data} Disk sda is full and was stopped`,
  `${head} ${data} Disk [sda] is full and was [stopped] today`,
  `${head} ${data} worker [3]: retry after error [timeout]`,
  `${head} - Disk [sda] is full and was [stopped] today`,
].map((text) => {
  const { message, structuredData } = glossy.Parse.parse(text);
  console.log(JSON.stringify(text.slice(head.length + 1)), '- message:', JSON.stringify(message), 'data:', JSON.stringify(structuredData));
  return message;
});
const isSeen = JSON.stringify(rows) === '["Disk sda is full and was stopped","today","","Disk [sda] is full and was [stopped] today"]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
