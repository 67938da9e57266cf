// Reads pages of Markdown as the lint rule reads comments: `node scripts/english/pages.js README.md docs/*.md`.
import { readFileSync } from 'node:fs';
import { faultsOf, sentencesOf } from './prose.js';

const TARGET = /(?<=\])\([^)\s]*\)/g;
const LITERAL = /^---\n[^]*?\n---\n|^```[^]*?^```|^<!--[^]*?-->|<[^>\n]+>/gm;
const blank = (text) => text.replace(/[^\n]/g, ' ');

let faulty = 0;
for (const page of process.argv.slice(2)) {
  const text = readFileSync(page, 'utf8');
  const prose = text.replace(LITERAL, blank).replace(TARGET, blank);
  const faults = faultsOf(prose);
  for (const { at, message } of faults) console.log(`${page}:${text.slice(0, at).split('\n').length}: ${message}`);
  const words = sentencesOf(prose).map((sentence) => sentence.words);
  const mean = words.reduce((sum, count) => sum + count, 0) / Math.max(words.length, 1);
  console.log(
    `${page}: ${words.length} sentences, ${mean.toFixed(1)} words each, ${Math.max(...words, 0)} at most, ${faults.length} faults`,
  );
  faulty += faults.length;
}
process.exitCode = faulty > 0 ? 1 : 0;
