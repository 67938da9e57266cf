#!/usr/bin/env bash
# subsrt-ts 2.1.2: a subtitle that it has written as ASS or SSA is read without its first letter.
# Expected: the text, as in `srt`, `vtt` and `sbv`. The README: it "supports converting, parsing and building subtitle file formats", `ass` and `ssa` among them.
# Seen: "Hello" becomes "ello". The parser always skips a space behind the last comma, which neither the format nor its own writer has.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund subsrt-ts@2.1.2 >/dev/null
cat >program.mjs <<'PROGRAM'
import subsrt from 'subsrt-ts';

const captions = [{ start: 1000, end: 2000, text: 'Hello, Ann' }, { start: 3000, end: 4000, text: '7 o\'clock' }];
const texts = (format) => {
  const read = subsrt.parse(subsrt.build(captions, { format }), { format });
  return read.filter(({ type }) => type === 'caption').map(({ text }) => text.trim());
};
const rows = ['srt', 'vtt', 'sbv', 'ass', 'ssa'].map((format) => [format, texts(format)]);
for (const [format, row] of rows) console.log(format, 'is read as', row);
const isSeen = rows.every(([format, row]) => row.join('|') === (['ass', 'ssa'].includes(format) ? "ello, Ann|o'clock" : "Hello, Ann|7 o'clock"));
if (!isSeen) console.log('the behaviour has changed');
process.exit(isSeen ? 0 : 1);
PROGRAM
node program.mjs &
wait $!
