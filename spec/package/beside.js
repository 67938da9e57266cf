// Runs the packed package beside other libraries on one HTTP server, and in and behind the development servers of bundlers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lap } from './lap.js';
import { project, removeAll, work } from './packed.js';

const PATIENCE_MS = 240_000;

let directory = work;
try {
  await lap('installs the libraries', () => (directory = project('beside', 'beside', 'module')));
  await lap('runs them', () => {
    const options = { cwd: directory, stdio: ['ignore', 'inherit', 'inherit'], timeout: PATIENCE_MS };
    assert.equal(spawnSync(process.execPath, ['program.js'], options).status, 0);
  });
} finally {
  removeAll();
}
