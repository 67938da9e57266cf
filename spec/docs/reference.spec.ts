import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PUBLIC_NAMES } from '../api/public-names.js';
import { codeIn, REPOSITORY, textOf } from './markdown.js';

const PAGE = 'docs/guide/reference.md';
// `TABLES=write npx jest spec/docs/reference` writes the page after a change of a docstring or of an entry point.
const WRITE = process.env['TABLES'] === 'write' ? ['--write'] : [];
const { status, stderr } = spawnSync(process.execPath, [join(REPOSITORY, 'scripts/reference.js'), ...WRITE], { encoding: 'utf8' });

/** The names in the tables of an entry point's section. */
function namesBelow(door: string): (string | undefined)[] {
  const [, section = ''] = textOf(PAGE).split(`\n## ${door === 'index' ? 'rxmux' : `rxmux/${door}`}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^\| (`\w+`) \|/gm)].map(([, cell = '']) => codeIn(cell)[0]);
}

describe('docs/guide/reference.md', () => {
  it('The page says what the docstrings say', () => {
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.each(Object.entries(PUBLIC_NAMES))('The page names every public name of %s once', (door, { values, types }) => {
    expect(namesBelow(door).sort()).toEqual([...values, ...types].sort());
  });
});
