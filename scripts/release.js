// Prepares a release: `npm run release -- --dry-run` checks everything, and publishes nothing. Without `--dry-run` it tags the commit
// too. A workflow of the repository's host publishes the tag with `npm publish --provenance`, because only a workflow can sign it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const isDry = process.argv.includes('--dry-run');
const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const inspector = JSON.parse(readFileSync(join(root, 'examples/inspector/package.json'), 'utf8'));
const tag = `v${version}`;

function output(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal(status, 0, `expected ${command} ${args.join(' ')} to succeed, got ${status}`);
  return stdout.trim();
}

function run(command, ...args) {
  console.log(`\n> ${command} ${args.join(' ')}`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  assert.equal(status, 0, `expected ${command} ${args.join(' ')} to succeed, got ${status}`);
}

/** Finds faults that a person has to mend before a release. */
function faults() {
  const heading = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').match(/^## \[(.+?)\] - (.+)$/m);
  return [
    [output('git', 'status', '--porcelain') === '', 'expected a clean work tree, got changes'],
    [output('git', 'tag', '--list', tag) === '', `expected no tag ${tag} yet`],
    [heading?.[1] === version, `expected CHANGELOG.md to begin with ${version}, got ${heading?.[1]}`],
    [/^\d{4}-\d\d-\d\d$/.test(heading?.[2] ?? ''), `expected a date for ${version} in CHANGELOG.md, got ${heading?.[2]}`],
    [inspector.version === version, `expected examples/inspector to have the version ${version}, got ${inspector.version}`],
    [repository !== undefined, 'expected `repository` in package.json: provenance and the links of README.md need it'],
  ].flatMap(([holds, fault]) => (holds ? [] : [fault]));
}

const found = faults();
for (const fault of found) console.error(fault);
if (!isDry && found.length > 0) process.exit(1);

run('npm', 'run', 'build');
run('node', 'scripts/size.js');
run('node', 'scripts/api.js');
run('node', 'scripts/packed.js');
run('npm', 'run', 'test:package');
run('npm', 'publish', '--dry-run', '--ignore-scripts', '--provenance');
// The page of the inspector is a package of its own, and would take a third of this one.
run('npm', 'run', 'build:inspector');
run('npm', 'publish', './examples/inspector', '--dry-run', '--ignore-scripts', '--provenance');

if (found.length > 0) process.exit(1);
if (!isDry) run('git', 'tag', '--annotate', tag, '--message', tag);
console.log(`\n${tag} is ready${isDry ? '' : ': push the tag'}`);
