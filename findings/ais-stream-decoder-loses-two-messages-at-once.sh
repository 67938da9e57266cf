#!/usr/bin/env bash
# ais-stream-decoder 2.1.2: two messages of two sentences each, whose sentences alternate, are both lost.
# Expected: two messages. The README: it "Handles multi-part messages like a pro". In NMEA 0183 each sentence has its message's number, so that sentences of two messages may alternate.
# Seen: the decoder never looks at that number. With `silent: true` it drops both; without, it emits "Incorrect multipart order" and ends.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ais-stream-decoder@2.1.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import loaded from 'ais-stream-decoder';

const AisDecoder = loaded.default ?? loaded;
const bits = (value, size) => value.toString(2).padStart(size, '0');
const sixBits = (text) => [...text].map((letter) => bits(letter.charCodeAt(0) & 63, 6)).join('');
const armor = (six) => String.fromCharCode(six < 40 ? six + 48 : six + 56);
const sentence = (...fields) => {
  const text = `AIVDM,${fields.join()}`;
  const sum = [...text].reduce((all, letter) => all ^ letter.charCodeAt(0), 0);
  return `!${text}*${sum.toString(16).toUpperCase().padStart(2, '0')}`;
};
const voyage = (number, ship, name) => {
  const data = bits(5, 6) + bits(0, 2) + bits(ship, 30) + bits(0, 32) + sixBits('CALL'.padEnd(7, '@') + name.padEnd(20, '@'));
  const payload = data.padEnd(426, '0').match(/.{6}/g).map((six) => armor(parseInt(six, 2))).join('');
  return [sentence(2, 1, number, 'A', payload.slice(0, 60), 0), sentence(2, 2, number, 'A', payload.slice(60), 2)];
};
const read = async (lines, options) => {
  const decoder = new AisDecoder(options);
  const names = [];
  let failure = '';
  decoder.on('data', (message) => names.push(JSON.parse(message).name));
  decoder.on('error', ({ message }) => (failure ||= message.split(' (')[0]));
  const closed = new Promise((resolve) => decoder.on('close', resolve));
  for (const line of lines) decoder.write(line);
  decoder.end();
  await closed;
  return `${names.join(' and ') || 'none'} ${failure}`.trim();
};
const [first, second] = voyage(1, 100000001, 'ANNA');
const [third, fourth] = voyage(2, 100000002, 'BERTA');
const seen = [
  await read([first, second, third, fourth]),
  await read([first, third, second, fourth], { silent: true }),
  await read([first, third, second, fourth]),
];
for (const [i, names] of seen.entries()) console.log(['one by one', 'interleaved and silent', 'interleaved'][i], ':', names);
const isSeen = seen.join() === 'ANNA and BERTA,none,none Incorrect multipart order';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
