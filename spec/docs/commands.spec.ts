import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { codeIn, fences, PAGES, REPOSITORY, textOf } from './markdown.js';

/** A command on a page, and the words behind it. */
interface Given {
  readonly page: string;
  readonly command: string;
  readonly words: readonly string[];
}

const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { readonly scripts: object };
const tests = ['spec', 'marbles'].flatMap((folder) =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
);
const QUICK = /\.(spec|marbles)\.ts$/;
const LONG = /\.long\.ts$/;
const LONG_RUN = 'npm run test:long -- --testPathPatterns';

function given(command: string): Given[] {
  return PAGES.flatMap((page) => {
    const lines = fences(page, 'sh').flatMap(({ text }) => text.split('\n'));
    const spans = textOf(page)
      .replace(/^```[^]*?^```$/gm, '')
      .split('\n')
      .flatMap(codeIn);
    return [...lines, ...spans]
      .flatMap((text) => text.split('&&'))
      .map((text) => text.replace(/#.*/, '').trim())
      .filter((text) => text.startsWith(`${command} `))
      .map((text) => ({ page, command: text, words: text.slice(command.length).trim().split(/\s+/) }));
  });
}

const isFound = (kind: RegExp, path: string): boolean => tests.some((test) => kind.test(test) && test.startsWith(path));

describe('commands', () => {
  it.each(given('npm run'))('A command of a page runs a script of package.json: $page, $command', ({ words }) => {
    expect(Object.keys(scripts)).toContain(words.find((word) => !word.startsWith('-')));
  });

  it.each(given('npx jest'))('A command of a page finds tests: $page, $command', ({ words }) => {
    expect(words.filter((path) => !isFound(QUICK, path))).toEqual([]);
  });

  it.each(given(LONG_RUN))('A command of a page finds long tests: $page, $command', ({ words }) => {
    expect(words.filter((path) => !isFound(LONG, path))).toEqual([]);
  });

  it('The page of guarantees has commands of each kind', () => {
    const proofs = ['npm run', 'npx jest', LONG_RUN].map((command) => given(command).filter(({ page }) => page === 'docs/RELIABILITY.md'));
    expect(proofs.filter((found) => found.length === 0)).toEqual([]);
  });
});
