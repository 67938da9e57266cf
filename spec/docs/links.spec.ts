import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PAGES, REPOSITORY, textOf } from './markdown.js';

/** Links within the repository. */
const linksOf = (page: string): { readonly page: string; readonly to: string }[] =>
  [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => ({ page, to })).filter(({ to }) => !to.startsWith('http'));

const pathOf = (page: string, to: string): string => {
  const [path = ''] = to.split('#');
  return path === '' ? page : normalize(join(dirname(page), path));
};

describe('links', () => {
  it.each(PAGES.flatMap(linksOf))('A link leads from $page to $to', ({ page, to }) => {
    const [, anchor] = to.split('#');
    const target = pathOf(page, to);
    expect(existsSync(join(REPOSITORY, target))).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor);
  });
});

describe('paths', () => {
  const named = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/`((?:bench|docs|examples|marbles|spec|src)\/[\w./-]*)`/g)].map(([, path = '']) => ({ page, path })),
  );

  it.each(named)('The path that $page names exists: $path', ({ path }) => {
    expect(existsSync(join(REPOSITORY, path))).toBe(true);
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
