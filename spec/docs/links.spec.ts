import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PAGES, REPOSITORY, textOf } from './markdown.js';

const links = PAGES.flatMap((page) => [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => ({ page, to })));

describe('the links of the pages', () => {
  it.each(links.filter(({ to }) => !to.startsWith('http')))('lead from $page to $to', ({ page, to }) => {
    const [path = '', anchor] = to.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    expect(existsSync(join(REPOSITORY, target))).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor);
  });
});

/** The headings of a page, as the usual renderers turn them into anchors. */
function anchorsOf(page: string): string[] {
  const headings = textOf(page).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
