// Prepares a release. `npm run release -- --dry-run` checks everything. Without `--dry-run` it tags the commit too. It publishes nothing: the
// pushed tag starts .github/workflows/release.yml, because only a workflow can sign where a package was built.
// `--registry URL` rehearses a release with another registry (spec/package/release.js).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const { values: options } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false }, registry: { type: 'string' } } });
const isDry = options['dry-run'];
const registry = options.registry === undefined ? [] : ['--registry', options.registry];
const { name, version, repository } = JSON.parse(read('package.json'));
const tag = `v${version}`;

function read(file) {
  return readFileSync(join(root, file), 'utf8');
}

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

/** The registry answers E404 for a version that it does not have. */
function isPublished() {
  const { status, stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version', '--json', ...registry], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim() !== '';
  assert.equal(JSON.parse(stdout).error?.code, 'E404', `expected the registry to answer, got ${stdout}`);
  return false;
}

/** Finds faults that a person has to mend before a release. */
function faults() {
  const heading = read('CHANGELOG.md').match(/^## \[(.+?)\] - (.+)$/m);
  return [
    [output('git', 'status', '--porcelain') === '', 'expected a clean work tree, got changes: commit them'],
    [output('git', 'branch', '--remotes', '--contains', 'HEAD') !== '', 'expected the remote to have this commit: push it'],
    [output('git', 'tag', '--list', tag) === '', `expected no tag ${tag} yet: set the next version with npm version --no-git-tag-version`],
    [!isPublished(), `expected ${name}@${version} not to be published yet: set the next version`],
    [heading?.[1] === version, `expected CHANGELOG.md to begin with ${version}, got ${heading?.[1]}`],
    [/^\d{4}-\d\d-\d\d$/.test(heading?.[2] ?? ''), `expected a date for ${version} in CHANGELOG.md, got ${heading?.[2]}`],
    [!read('README.md').includes('not published yet'), 'expected README.md not to say "not published yet": mend its status'],
    [
      repository !== undefined,
      'expected the address of the repository in package.json, which the registry compares with the workflow: npm pkg set repository.type=git repository.url=git+https://HOST/OWNER/NAME.git',
    ],
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
run('npm', 'publish', '--dry-run', '--ignore-scripts', '--provenance', ...registry);

if (found.length > 0) process.exit(1);
if (!isDry) run('git', 'tag', '--annotate', tag, '--message', tag);
console.log(`\n${tag} is ready${isDry ? '' : `: git push origin ${tag}`}`);
