import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PRODUCTS } from '../proxies/products.js';
import { REPOSITORY, tableBelow, textOf } from './markdown.js';

const PAGE = 'docs/guide/proxies.md';
const FILES = 'docs/guide/proxies';
/** The module of a server that reads PROXY headers. */
const HEADER = { name: 'The PROXY protocol', page: 'proxy-header.mjs' };

/** The block that follows the heading of a product. */
const blockOf = (heading: string): RegExp => new RegExp(`(^### ${heading}$[^#]*?^\`\`\`\\w*\\n)([^]*?)(^\`\`\`$)`, 'm');

/** The module, and the first product of each file, whose heading the file has. */
const SHOWN = [HEADER, ...PRODUCTS.filter(({ page }, at) => PRODUCTS.findIndex((other) => other.page === page) === at)];

// `TABLES=write npx jest spec/docs/proxies` copies the files into the page.
if (process.env['TABLES'] === 'write') {
  let text = textOf(PAGE);
  for (const { name, page } of SHOWN)
    text = text.replace(blockOf(name), (_all, begin: string, _shown, end: string) => begin + textOf(`${FILES}/${page}`) + end);
  writeFileSync(join(REPOSITORY, PAGE), text);
}

describe('configurations of proxies', () => {
  it.each(SHOWN)('The page shows the file that the test starts: $page', ({ name, page }) => {
    expect(blockOf(name).exec(textOf(PAGE))?.[2]).toBe(readFileSync(join(REPOSITORY, FILES, page), 'utf8'));
  });

  it('The page has each file', () => {
    expect(readdirSync(join(REPOSITORY, FILES)).sort()).toEqual(SHOWN.map(({ page }) => page).sort());
  });

  it('The table has a row for each product', () => {
    const names = tableBelow(PAGE, 'Needs and limits of each proxy').map(([name = '']) => /\[(.*)\]/.exec(name)?.[1]);
    expect(names).toEqual(PRODUCTS.map(({ name }) => name));
  });
});
