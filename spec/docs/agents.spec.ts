import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fences, REPOSITORY, tableBelow, textOf } from './markdown.js';

/** The pages for coding agents. `AGENTS=write npx jest spec/docs/agents` writes them after a change of README.md or of Troubleshooting. */
const LLMS = 'docs/llms.txt';
const SKILL = 'docs/skills/rxmux/SKILL.md';

/** The mistakes of the first days: rows of Troubleshooting, by their section. */
const SYMPTOMS = ['It does not connect', 'A call brings the wrong answer, or none'];

function written(page: string): string {
  const folder = dirname(page);
  const up = '../'.repeat(folder.split('/').length);
  const link = (path: string): string => (path.startsWith('docs/') && folder === 'docs' ? path.slice('docs/'.length) : `${up}${path}`);
  const readme = textOf('README.md');
  const paragraphs = readme.split('\n\n');
  const [promise = '', ...promises] = [paragraphs[1], ...(paragraphs.find((text) => text.startsWith('- **')) ?? '').split('\n')];
  return [
    '# rxmux',
    `> ${promise}`,
    promises.join('\n'),
    'Both ends run rxmux. Node 20.19 or later; `npm install rxmux rxjs`. On Node, `connect` comes from `rxmux/node`; in a page, from `rxmux`.',
    '## A whole program',
    ...fences('README.md', 'ts')
      .slice(0, 4)
      .map(({ text }) => `\`\`\`ts\n${text}\`\`\``),
    'Run them as ES modules with `node server.ts` and `node client.ts` on Node 22.18 or later, or with `npx -y tsx` on Node 20.',
    '## Imports',
    tableBelow('README.md', 'Entry points')
      .map(([door = '', holds = '']) => `- ${door}: ${relinked(holds, link)}`)
      .join('\n'),
    '## Symptoms',
    SYMPTOMS.flatMap((section) => tableBelow('docs/guide/troubleshooting.md', section))
      .map(([seen = '', because = '', act = '']) => `- ${plain(seen)}: ${plain(because)}. Do: ${plain(act)}.`)
      .join('\n'),
    '## Pages',
    tableBelow('README.md', 'Guide')
      .map(([pages = '', answers = '']) => `- ${relinked(pages, link)}: ${answers}`)
      .join('\n'),
    '',
  ].join('\n\n');
}

/** Links of README.md, from the folder of another page. */
function relinked(text: string, link: (path: string) => string): string {
  return text.replaceAll(/\]\(([^)]+)\)/g, (_, path: string) => `](${link(path)})`);
}

/** A text without its links: their addresses hold for another page. */
function plain(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll(String.raw`\|`, '|');
}

const HEAD = [
  '---',
  'name: rxmux',
  'description: Write, review and debug TypeScript that uses rxmux, many logical streams over one WebSocket with RxJS. Use it for imports from rxmux, its contracts, servers, reconnection and tests.',
  '---',
  '',
].join('\n');

const PAGES = [
  { page: LLMS, text: written(LLMS) },
  { page: SKILL, text: `${HEAD}\n${written(SKILL)}` },
].map(({ page, text }) => ({ page, text: `${text.trimEnd()}\n` }));

describe('pages for coding agents', () => {
  if (process.env['AGENTS'] === 'write') for (const { page, text } of PAGES) writeFileSync(join(REPOSITORY, page), text);

  it.each(PAGES)('$page says what README.md and Troubleshooting say', ({ page, text }) => {
    expect(textOf(page)).toBe(text);
  });

  it.each(PAGES)('$page has the quick start, which another test runs', ({ page }) => {
    expect(fences(page, 'ts').map(({ text }) => text)).toEqual(
      fences('README.md', 'ts')
        .slice(0, 4)
        .map(({ text }) => text),
    );
  });

  it.each(PAGES)('The links of $page lead to files', ({ page }) => {
    const links = [...textOf(page).matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((path) => !existsSync(join(REPOSITORY, dirname(page), path)))).toEqual([]);
  });
});
