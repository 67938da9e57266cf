#!/usr/bin/env bash
# lrc-kit 1.2.1: a line of a song at 9.01 s is written at 9.10 s, and one at 1.05 s at 1.50 s.
# Expected: the README's own example writes 9.01 as "[00:09.01]".
# Seen: `toString()` pads hundredths below 10 at the wrong end. It moves nine of a hundred times by up to 0.81 s, so lines change places.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund lrc-kit@1.2.1 >/dev/null
cat >program.mjs <<'PROGRAM'
import { Lrc } from 'lrc-kit';

const write = (timestamp) => {
  const lrc = new Lrc();
  lrc.lyrics.push({ timestamp, rawContent: '', content: 'One' });
  return lrc.toString().trim();
};
const times = [9.01, 1.05, 1.25];
for (const time of times) console.log(time, 'is written as', write(time));
const song = Lrc.parse('[00:01.08]One\n[00:01.70]Two');
const again = Lrc.parse(song.toString()).lyrics.sort((a, b) => a.timestamp - b.timestamp);
console.log('"One" at 1.08 and "Two" at 1.70 are read again as', again.map(({ content, timestamp }) => `"${content}" at ${timestamp}`).join(' and '));
const read = (i) => Lrc.parse(write(5 + i / 100)).lyrics[0].timestamp;
const wrong = Array.from({ length: 100 }, (_, i) => i).filter((i) => Math.abs(read(i) - 5 - i / 100) > 0.005);
console.log(wrong.length, 'of 100 times change:', wrong.join(' '));
const isSeen =
  times.map((time) => write(time).slice(0, 10)).join() === '[00:09.10],[00:01.50],[00:01.25]' &&
  again.map(({ content }) => content).join() === 'Two,One' &&
  wrong.join() === '1,2,3,4,5,6,7,8,9';
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
