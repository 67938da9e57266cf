import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './checks.js';

/** The files of the README's quick start. The first line of each block names its file. */
export function quickStart() {
  const [, section] = readFileSync(join(repository, 'README.md'), 'utf8').split('## Quick start');
  return new Map([...section.matchAll(/```ts\n(\/\/ (\w+\.ts)[^]*?)```/g)].map(([, text, name]) => [name, text]));
}
