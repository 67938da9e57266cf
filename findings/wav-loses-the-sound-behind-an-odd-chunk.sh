#!/usr/bin/env bash
# wav 1.0.2, wav-file-decoder 1.0.3: a stream with a chunk of an odd size before its sound yields no sound.
# Expected: the Reader "accepts a WAV audio file written to it and outputs the raw audio data". RIFF pads a chunk of an odd size with one byte, and wav-file-decoder skips it.
# Seen: the Reader takes the padding byte for the start of the next chunk's name, so it never finds the sound. It emits no error and no data.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund wav@1.0.2 wav-file-decoder@1.0.3 >/dev/null
cat >program.mjs <<'PROGRAM'
import wav from 'wav';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeWavFile } from 'wav-file-decoder';

const number = (value, size) => Buffer.from(Array.from({ length: size }, (_, i) => (value >> (8 * i)) & 255));
const chunk = (id, data) => Buffer.concat([Buffer.from(id), number(data.length, 4), data, Buffer.alloc(data.length % 2)]);
const format = Buffer.concat([number(1, 2), number(1, 2), number(8000, 4), number(16000, 4), number(2, 2), number(16, 2)]);
const sound = Buffer.concat([1, 2, 3, 4].map((sample) => number(sample * 1024, 2)));
const file = (xml) =>
  chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', format), chunk('iXML', Buffer.from(xml)), chunk('data', sound)]));
const read = async (bytes) => {
  const reader = new wav.Reader();
  const [pieces, errors] = [[], []];
  reader.on('data', (piece) => pieces.push(piece));
  reader.on('error', (error) => errors.push(error.message));
  reader.end(bytes);
  await once(reader, 'finish');
  await sleep(500);
  return { bytes: Buffer.concat(pieces).length, errors: errors.length };
};
const rows = [];
for (const xml of ['<BWFXML/>', '<BWFXML />']) {
  const bytes = file(xml);
  rows.push({ ...(await read(bytes)), samples: decodeWavFile(bytes).channelData[0].length });
  console.log(`an iXML chunk of ${xml.length} bytes:`, JSON.stringify(rows.at(-1)));
}
const isSeen = JSON.stringify(rows) === '[{"bytes":0,"errors":0,"samples":4},{"bytes":8,"errors":0,"samples":4}]';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
