import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { REPOSITORY, textOf } from './markdown.js';

/** A row of the survivors: its file, the line in the run, and the replaced code, in which a `|` is escaped. */
const SURVIVOR = /^\| `(?<file>src\/[^`]+)`:\d+ \| `` (?<code>.*?) `` \|/gm;

describe('docs/mutation.md', () => {
  it('The page of mutants lists no survivor whose code is gone', () => {
    const survivors = [...textOf('docs/mutation.md').matchAll(SURVIVOR)].map(({ groups }) => ({
      file: String(groups?.['file']),
      code: String(groups?.['code']).replaceAll('\\|', '|'),
    }));
    expect(survivors.length).toBeGreaterThan(0);
    expect(survivors.filter(({ file, code }) => !sourceOf(file).includes(code))).toEqual([]);
  });
});

/** Returns a source with one space for each run of white space, as the page quotes it. */
function sourceOf(file: string): string {
  return readFileSync(join(REPOSITORY, file), 'utf8').replace(/\s+/g, ' ');
}
