import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { codeIn, fences, REPOSITORY, tableBelow, textOf } from './markdown.js';

const codes = readdirSync(join(REPOSITORY, 'docs/errors')).map((file) => file.replace('.md', ''));

describe('pages of errors', () => {
  it('Each code of the guide has a page of its own, and no other has one', () => {
    const listed = tableBelow('docs/guide/errors.md', 'Every error').map(([, code = '']) => codeIn(code)[0]);
    expect(codes.sort()).toEqual([...listed, 'CODEC'].sort());
  });

  it.each(codes)('The page of %s has its title, whether to retry, and a program', (code) => {
    const page = `docs/errors/${code}.md`;
    expect(textOf(page)).toMatch(new RegExp(`^# ${code}$`, 'm'));
    expect(tableBelow(page, code).map(([fact]) => fact)).toContain('`retriable`');
    expect(fences(page, 'ts')).toHaveLength(1);
  });
});
