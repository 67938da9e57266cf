// Code in pages is at most 72 columns wide, so that the site cuts no line. `npm run format` formats the blocks whose language Prettier knows.
// `npm run format:check` fails on a block in another form, and on a longer line of any code. Blocks of `text` hold output, as it is printed.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

/** The columns that the column of the site holds (docs/site/.vitepress/theme/custom.css). */
const MAX_COLUMNS = 72;
/** Languages of fences, each with a file name by which Prettier knows the language. */
const FILES = {
  ts: 'a.ts',
  typescript: 'a.ts',
  tsx: 'a.tsx',
  js: 'a.js',
  jsx: 'a.jsx',
  vue: 'a.vue',
  css: 'a.css',
  json: 'a.json',
  yaml: 'a.yaml',
};
const OUTPUT = new Set(['text']);
const FENCE = /^```(\w*)\n([^]*?)^```$/gm;

const root = join(import.meta.dirname, '..');
const isWriting = process.argv.includes('--write');
const style = { ...(await resolveConfig(join(root, 'package.json'))), printWidth: MAX_COLUMNS };
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: root, encoding: 'utf8' });
for (const page of pages.trim().split('\n')) await checkPage(page);

async function checkPage(page) {
  const text = readFileSync(join(root, page), 'utf8');
  let written = '';
  let end = 0;
  for (const { 0: block, 1: language, 2: code, index: at } of text.matchAll(FENCE)) {
    const index = at + block.indexOf('\n') + 1;
    const { [language]: filepath } = FILES;
    const line = text.slice(0, index).split('\n').length;
    const formatted = filepath === undefined ? code : await formattedAs(filepath, code, `${page}:${line}`);
    if (formatted !== code && !isWriting) fail(`${page}:${line}: expected code as \`npm run format\` writes it`);
    if (!OUTPUT.has(language))
      for (const [nth, { length }] of formatted.split('\n').entries())
        if (length > MAX_COLUMNS) fail(`${page}:${line + nth}: expected at most ${MAX_COLUMNS} columns of code, got ${length}`);
    written += text.slice(end, index) + formatted;
    end = index + code.length;
  }
  if (isWriting && end > 0 && written + text.slice(end) !== text) writeFileSync(join(root, page), written + text.slice(end));
}

async function formattedAs(filepath, code, where) {
  try {
    return await format(code, { ...style, filepath });
  } catch ({ message }) {
    fail(`${where}: expected code that a parser reads: ${message}`);
    return code;
  }
}

function fail(what) {
  console.error(what);
  process.exitCode = 1;
}
