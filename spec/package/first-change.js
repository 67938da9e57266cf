// The first change of docs/CONTRIBUTING.md, step by step in a fresh clone: edits are made and commands run as the page has them.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, emptyFolder, repository, run } from './packed.js';
import { lap } from './lap.js';

/** The blocks of the section, in order. */
function steps() {
  const page = readFileSync(join(repository, 'docs/CONTRIBUTING.md'), 'utf8');
  const [, section] = page.split('## Your first change');
  const [own] = section.split(/^## /m);
  return [...own.matchAll(/^```(sh|diff)\n([^]*?)^```$/gm)].map(([, language, text]) => ({ language, lines: text.trimEnd().split('\n') }));
}

/** Replaces the old lines of a diff by its new lines. */
function edit(clone, [head, ...lines]) {
  const file = join(clone, head.replace('--- ', ''));
  const side = (without) => lines.filter((line) => !line.startsWith(without)).map((line) => line.slice(1));
  const [before, after] = ['+', '-'].map((without) => `${side(without).join('\n')}\n`);
  const text = readFileSync(file, 'utf8');
  assert.equal(text.split(before).length, 2, `expected ${file} to hold once:\n${before}`);
  writeFileSync(file, text.replace(before, after));
}

/** The comment above a command says how it fails, if it does. */
function execute(clone, command, comment = '') {
  const [, expected] = /^# fails: (.+)$/.exec(comment) ?? [];
  const { status, stdout, stderr } = spawnSync(command, { cwd: clone, encoding: 'utf8', shell: true });
  const printed = stdout + stderr;
  assert.equal(status === 0, expected === undefined, `${command} ended with ${status}:\n${printed}`);
  assert.ok(printed.includes(expected ?? ''), `expected "${expected}" of ${command}, got:\n${printed}`);
}

export async function firstChange() {
  const clone = emptyFolder('first-change');
  run(repository, 'git', 'clone', '--quiet', repository, clone);
  for (const { language, lines } of steps()) {
    if (language === 'diff') edit(clone, lines);
    else for (const [nth, line] of lines.entries()) if (!line.startsWith('#')) await lap(line, () => execute(clone, line, lines[nth - 1]));
  }
  check('the first change of a contributor fails its test, passes it, and passes the linters', true);
}
