// Mutates only the lines that changed since this branch left the main one. Succeeds if there are none, and stops after some
// minutes in any case. A mutant that survives unexplained is a failure.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { mutantsOf, survivorsOf, tally } from './figures.js';

const MINUTES = 3;
const REPORT = 'reports/mutation/changed.json';
const root = join(import.meta.dirname, '../..');
const { mutate } = JSON.parse(readFileSync(join(root, 'stryker.config.json'), 'utf8'));
const stryker = join(createRequire(import.meta.url).resolve('@stryker-mutator/core/package.json'), '../bin/stryker.js');

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** Returns `file:first-last` for each run of new or changed lines. */
function changedLines() {
  const main = ['origin/main', 'main', 'origin/master', 'master'].find((name) => git('rev-parse', '--verify', '--quiet', name) !== null);
  const base = main && git('merge-base', main, 'HEAD');
  if (!base) return [];
  const ranges = [];
  let file = null;
  const mutated = mutate.map((files) => `:(glob)${files}`);
  for (const line of git('diff', '--unified=0', '--no-color', '--no-ext-diff', base, '--', ...mutated).split('\n')) {
    if (line.startsWith('+++ ')) file = line.startsWith('+++ b/') ? line.slice('+++ b/'.length) : null;
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk === null || file === null) continue;
    const [first, count] = [Number(hunk[1]), Number(hunk[2] ?? 1)];
    if (count > 0) ranges.push(`${file}:${first}-${first + count - 1}`);
  }
  return ranges;
}

const ranges = changedLines();
if (ranges.length === 0) {
  console.log('no line of what stryker.config.json mutates has changed: nothing to mutate');
  process.exit(0);
}

rmSync(join(root, REPORT), { force: true });
const run = spawn(process.execPath, [stryker, 'run', 'spec/mutation/changed.config.js', '--mutate', ranges.join(',')], {
  cwd: root,
  stdio: 'inherit',
});
const deadline = setTimeout(() => {
  console.log(`stopped after ${MINUTES} minutes: there is more to mutate than fits; npm run mutation goes through all of it`);
  run.kill('SIGINT');
}, MINUTES * 60_000);
run.on('close', (status) => {
  clearTimeout(deadline);
  if (!existsSync(join(root, REPORT))) {
    process.exitCode = run.killed ? 0 : status || 1;
    return;
  }
  const mutants = mutantsOf(REPORT);
  const unexplained = survivorsOf(mutants).filter(({ why }) => why === undefined);
  for (const { file, line, original, replacement } of unexplained) console.log(`${file}:${line} survives: ${original} -> ${replacement}`);
  console.log(`${tally(mutants).killed} of ${mutants.length} mutants killed, ${unexplained.length} live unexplained`);
  process.exitCode = unexplained.length > 0 ? 1 : 0;
});
