// Writes the figures of the last run into docs/mutation.md, between its markers.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutantsOf, survivorsOf, tally } from './figures.js';

const REPORT = 'reports/mutation/mutation.json';
const root = join(import.meta.dirname, '../..');
const page = join(root, 'docs/mutation.md');

const mutants = mutantsOf(REPORT);
const survivors = survivorsOf(mutants);
const written = statSync(join(root, REPORT)).mtime.toISOString().slice(0, 10);

const cell = (text) => text.replaceAll('|', '\\|');
const code = (text) => `\`\` ${cell(text)} \`\``;
const row = (...cells) => `| ${cells.join(' | ')} |`;
const figures = (title, some) => {
  const { valid, killed, timeout, survived, uncovered, ignored, score } = tally(some);
  return row(title, valid, killed, timeout, survived, uncovered, ignored, `${score.toFixed(1)} %`);
};
const head = (title) => [
  row(title, 'mutants', 'killed', 'of these by timeout', 'survived', 'not covered', 'static', 'score'),
  '|---|--:|--:|--:|--:|--:|--:|--:|',
];
const groups = (keyOf) => [...new Set(mutants.map(keyOf))].sort().map((key) => [key, mutants.filter((mutant) => keyOf(mutant) === key)]);
const folderOf = ({ file }) => file.slice(0, file.lastIndexOf('/'));

const sections = {
  totals: [
    `Figures of ${written}, Node ${process.versions.node}.`,
    '',
    ...head('folder'),
    ...groups(folderOf).map(([folder, some]) => figures(`\`${folder}\``, some)),
    figures('all', mutants),
  ],
  files: [...head('file'), ...groups(({ file }) => file).map(([file, some]) => figures(`\`${file}\``, some))],
  survivors: [
    row('where', 'code', 'mutant', 'why it may live'),
    '|---|---|---|---|',
    ...survivors.map(({ file, line, original, replacement, why }) =>
      row(`\`${file}\`:${line}`, code(original), code(replacement), cell(why ?? 'not explained yet')),
    ),
  ],
};

let text = readFileSync(page, 'utf8');
for (const [name, lines] of Object.entries(sections)) {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`expected docs/mutation.md to have a place for its ${name}`);
  text = `${text.slice(0, from + begin.length)}\n${lines.join('\n')}\n\n${text.slice(to)}`;
}
writeFileSync(page, text);

const { score } = tally(mutants);
console.log(
  `${score.toFixed(2)} % of ${mutants.length} mutants; ${survivors.filter(({ why }) => why === undefined).length} live unexplained`,
);
