import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { REPOSITORY } from './markdown.js';

const LINT = `
  import { Linter } from 'eslint';
  import { plainEnglish } from './scripts/english/eslint-rule.js';
  const config = { plugins: { own: { rules: { english: plainEnglish } } }, rules: { 'own/english': 'error' } };
  const found = (code) => new Linter().verify(code, config).map(({ line, message }) => line + ' ' + message.split(':')[0]);
  console.log(JSON.stringify(JSON.parse(process.argv[1]).map(found)));`;

function node(...args: readonly string[]): { readonly status: number | null; readonly stdout: string } {
  return spawnSync(process.execPath, args, { cwd: REPOSITORY, encoding: 'utf8' });
}

/** The faults in each of the texts. One process reads them all. */
function faultsIn(codes: readonly string[]): readonly unknown[] {
  return JSON.parse(node('--input-type=module', '--eval', LINT, JSON.stringify(codes)).stdout) as unknown[];
}

const LONG = Array.from({ length: 26 }, (_, n) => `word${n}`).join(' ');

const PLANTED: readonly (readonly [planted: string, code: string, reported: readonly string[]])[] = [
  ['a missing actor', '// nobody reads it', ['1 "nobody"']],
  ['a clause as subject', '/** What waits for it goes. */', ['1 "What"']],
  ['a clause on a later line', '/**\n * Fine.\n * Whoever reads.\n */', ['3 "Whoever"']],
  ['a permission', '// The session lets the call pass.', ['1 "lets"']],
  ['a passive report', '// The caller is told why.', ['1 "is told"']],
  ['a sentence over two comments', `// ${LONG.slice(0, 80)}\n// ${LONG.slice(80)}.`, ['1 a sentence of 26 words']],
  ['a title that continues its describe', "it('drops a late frame', f);", ['1 a title that continues its describe']],
  ['the title of a table', "it.each([1])('gives %s', f);", ['1 "gives"', '1 a title that continues its describe']],
  ['the text of an error', 'throw new TypeError(`expected that of ${x}`);', ['1 "that of"']],
  ['the text of an error in two parts', "throw new TypeError('got that of ' + name);", ['1 "that of"']],
  ['the text of an error that a function makes', "throw optionError('helpers', 'those of a scheduler', x);", ['1 "those of"']],
  ['the reason of a reset', "stream.reset(CANCEL, 'whoever waits has left');", ['1 "whoever"']],
  ['an amount without a name', '// It keeps so many bytes.', ['1 "so many"']],
  ['an infinitive that says the opposite', '// The server stops to answer.', ['1 "stops to answer"']],
  ['the text of a log line', "log('warn', 'the caller is told');", ['1 "is told"']],
];

const EXAMPLES = ['// Calls `gives()`.', '/**', ' * Fine.', ' *', ' * @example', ' * gives();', ' */', "it('Session drops it', f);"].join(
  '\n',
);

describe('plain English', () => {
  const [unplanted, ...found] = faultsIn([EXAMPLES, ...PLANTED.map(([, code]) => code)]);

  it.each(PLANTED.map(([planted, , reported], row) => ({ planted, reported, row })))('The rule reports $planted', ({ reported, row }) => {
    expect(found[row]).toEqual(reported);
  });

  it('The rule reads neither code nor examples', () => {
    expect(unplanted).toEqual([]);
  });

  it('The check of pages fails for a planted page and prints where', () => {
    const planted = join('spec', 'docs', 'plain-english.md');
    const { status, stdout } = node('scripts/english/pages.js', planted);
    expect(stdout).toContain(`${planted}:3: "nobody"`);
    expect(stdout).toContain(`${planted}: 3 sentences, 4.7 words each, 6 at most, 1 faults`);
    expect(status).toBe(1);
  });
});
