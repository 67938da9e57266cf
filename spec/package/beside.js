// Runs the packed package beside other libraries on one HTTP server, and in and behind the development servers of bundlers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lap } from './lap.js';
import { project, removeAll, repository, work } from './packed.js';

const PATIENCE_MS = 240_000;
let directory = work;

/** Writes the file that a page shows. */
function writeFromPage(page, name) {
  const text = readFileSync(join(repository, 'docs/guide', page), 'utf8');
  const [, shown] = text.split(`\`\`\`js\n// ${name}\n`);
  assert.ok(shown, `expected a block '// ${name}' in ${page}`);
  writeFileSync(join(directory, name), shown.split('```', 1)[0]);
}

try {
  await lap('installs the libraries', () => (directory = project('beside', 'beside', 'module')));
  writeFromPage('from-trpc.md', 'superjson-codec.js');
  await lap('runs them', () => {
    const options = { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'], timeout: PATIENCE_MS };
    assert.equal(spawnSync(process.execPath, ['program.js'], options).status, 0);
  });
} finally {
  removeAll();
}
