import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { codeIn, REPOSITORY, textOf } from './markdown.js';

const page = textOf('docs/ARCHITECTURE.md');
const below = (folder: string): string[] =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
const sources = below('src').filter((path) => path.endsWith('.ts'));
const files = ['src', 'spec', 'examples/cbor'].flatMap((folder) => below(folder).map((path) => `/${folder}/${path}`));

/** Each file that the page names. Some are named without their folders. */
const named = [...page.matchAll(/[\w/.-]*\w\.ts\b/g)].map(([path]) => path);
/** Each function that fills a slot, with its file. */
const fillers = [...page.matchAll(/`(\w+)\(\)` of `([\w/-]+\.ts)`/g)].map(([, name = '', file = '']) => ({ name, file }));
/** The rows of the first table behind a sentence. */
function tableAfter(sentence: string): string[][] {
  const [, rows = ''] = /\n\|[ -]+\|[ |-]+\n((?:\|.*\n)+)/.exec(page.slice(page.indexOf(sentence))) ?? [];
  return rows.split('\n').map((row) => row.split('|').slice(1, -1));
}

describe('the page of the architecture', () => {
  it.each([...new Set(named)])('The page names a file that exists: %s', (path) => {
    expect(files.filter((file) => file.endsWith(`/${path}`))).not.toEqual([]);
  });

  it.each(fillers)('The page names the file of $name', ({ name, file }) => {
    expect(textOf(`src/${file}`)).toContain(`export function ${name}(`);
  });

  it('The page has a row for each file of rx', () => {
    const rows = tableAfter('They lie in `rx/`').flatMap(([parts = '']) => codeIn(parts));
    expect(rows.sort()).toEqual(readdirSync(join(REPOSITORY, 'src/rx')).sort());
  });

  it('The page names every folder of the source', () => {
    const folders = [...new Set(sources.map((path) => posix.dirname(path)))].filter((folder) => /^(\w+|peer\/\w+)$/.test(folder));
    expect(folders.filter((folder) => !page.includes(`${posix.basename(folder)}/`))).toEqual([]);
  });

  it('The picture names every door', () => {
    const [, doors = ''] = /```text\n(.*)\n/.exec(page) ?? [];
    const { exports } = JSON.parse(textOf('package.json')) as { readonly exports: object };
    const paths = Object.keys(exports).filter((path) => path !== './package.json');
    expect(doors.trim().split(/\s+/).sort()).toEqual(paths.map((path) => path.replace(/^\.\/?/, '') || 'index').sort());
  });
});
