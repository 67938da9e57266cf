// Rehearses a release: a copy of the checkout gets an address and a date, and scripts/release.js releases it whole. The command of the publishing
// workflow then publishes it to a registry on this machine. First, every fault that a person has to mend is refused.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { check, repository, run } from './checks.js';

const work = mkdtempSync(join(tmpdir(), 'rxmux-release-'));
const origin = join(work, 'origin.git');
const checkout = join(work, 'checkout');
const { name, version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
const tag = `v${version}`;
const ADDRESS = 'git+https://example.com/rxmux/rxmux.git';

const git = (...args) => run(checkout, 'git', ...args).trim();

function edit(file, from, to) {
  const path = join(checkout, file);
  const text = readFileSync(path, 'utf8');
  const edited = text.replace(from, to);
  assert.notEqual(edited, text, `expected ${file} to hold ${from}`);
  writeFileSync(path, edited);
}

function commit(message) {
  git('commit', '--quiet', '--all', '--message', message);
}

/** Copies the checkout, and does a person's part of a release. Returns the commit. */
function prepare() {
  run(work, 'git', 'init', '--quiet', '--bare', '--initial-branch=main', origin);
  run(repository, 'git', 'push', '--quiet', origin, 'HEAD:refs/heads/main');
  run(work, 'git', 'clone', '--quiet', origin, checkout);
  git('config', 'user.name', 'rehearsal');
  git('config', 'user.email', 'rehearsal@localhost');
  symlinkSync(join(repository, 'node_modules'), join(checkout, 'node_modules'));
  appendFileSync(join(checkout, '.git/info/exclude'), '/node_modules\n');
  run(checkout, 'npm', 'pkg', 'set', 'repository.type=git', `repository.url=${ADDRESS}`);
  edit('CHANGELOG.md', /^(## \[.+?\]) - unreleased$/m, '$1 - 2026-11-27');
  edit('README.md', 'is not published yet', 'is published');
  commit('Release');
  git('push', '--quiet', 'origin', 'main');
  return git('rev-parse', 'HEAD');
}

/** A registry that has nothing, and takes what anybody publishes. */
async function startRegistry() {
  const folder = join(work, 'registry');
  mkdirSync(folder);
  // Its own range of node-fetch is the name of a tag, which mirrors lack.
  writeFileSync(join(folder, 'package.json'), '{ "overrides": { "node-fetch": "2.7.0" } }');
  run(folder, 'npm', 'install', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund', 'verdaccio@6.10.4');
  const { runServer } = createRequire(join(folder, 'package.json'))('verdaccio');
  const server = await runServer({
    storage: join(folder, 'storage'),
    self_path: folder,
    configPath: folder,
    auth: { htpasswd: { file: join(folder, 'users') } },
    packages: { '**': { access: '$all', publish: '$all' } },
    log: { type: 'stdout', level: 'fatal' },
    web: { enable: false },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: `127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Runs a program in the checkout, while the registry answers in this process. */
async function asks(registry, command, ...args) {
  const child = spawn(command, [...args, '--registry', `http://${registry}`], { cwd: checkout, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[status], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return { status, stdout, stderr };
}

const release = (registry) => asks(registry, process.execPath, 'scripts/release.js');

/** Each fault alone, and the beginning of the line that names it. */
const FAULTS = [
  ['a changed file', () => edit('LICENSE', 'MIT', 'mit'), 'expected a clean work tree'],
  ['a commit that only this clone has', () => (edit('LICENSE', 'MIT', 'mit'), commit('Change')), 'expected the remote to have this commit'],
  ['a version that is tagged', () => git('tag', tag), `expected no tag ${tag} yet`],
  [
    'a version that the changelog lacks',
    () => spoil('CHANGELOG.md', `## [${version}]`, '## [9.9.9]'),
    'expected CHANGELOG.md to begin with',
  ],
  ['a version without a date', () => spoil('CHANGELOG.md', '- 2026-11-27', '- unreleased'), 'expected a date'],
  ['a README of an unpublished version', () => spoil('README.md', 'is published', 'is not published yet'), 'expected README.md not to say'],
  ['a package without an address', removeAddress, 'expected the address of the repository'],
];

function spoil(file, from, to) {
  edit(file, from, to);
  commit('Spoil');
  git('push', '--quiet', 'origin', 'main');
}

function removeAddress() {
  run(checkout, 'npm', 'pkg', 'delete', 'repository');
  commit('Spoil');
  git('push', '--quiet', 'origin', 'main');
}

function restore(good) {
  git('reset', '--quiet', '--hard', good);
  git('push', '--quiet', '--force', 'origin', 'main');
  if (git('tag', '--list', tag) !== '') git('tag', '--delete', tag);
}

async function checkFaults(registry, good) {
  for (const [title, make, line] of FAULTS) {
    make();
    const { status, stdout, stderr } = await release(registry);
    assert.deepEqual([status, stdout, stderr.trim().split('\n').length], [1, '', 1], `${title}: ${stdout}${stderr}`);
    assert.ok(stderr.startsWith(line), `expected "${line}", got ${stderr}`);
    restore(good);
    check(`a release refuses ${title}`, true);
  }
}

/** The publishing command of the workflow, but for the signature, which only the host can make. */
async function publish(registry) {
  const { jobs } = parse(readFileSync(join(checkout, '.github/workflows/release.yml'), 'utf8'));
  assert.equal(jobs.publish.permissions['id-token'], 'write');
  const commands = jobs.publish.steps.map((step) => step.run ?? '').filter((command) => command.startsWith('npm publish'));
  assert.equal(commands.length, 1);
  assert.match(commands[0], /--provenance/);
  const [npm, ...args] = commands[0].split(' ');
  const { status, stderr } = await asks(registry, npm, ...args, '--no-provenance', `--//${registry}/:_authToken=rehearsal`);
  assert.equal(status, 0, stderr);
}

async function checkRelease(registry, good) {
  const { status, stdout, stderr } = await release(registry);
  assert.equal(status, 0, stdout + stderr);
  assert.equal(git('rev-parse', `${tag}^{commit}`), good);
  check(`the release has checked all, and has tagged the commit ${tag}`, true);

  const [packed] = Object.values(JSON.parse(run(checkout, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', work)));
  git('push', '--quiet', 'origin', tag);
  await publish(registry);
  const view = async (named) => JSON.parse((await asks(registry, 'npm', 'view', `${named}@${version}`, 'dist', '--json')).stdout);
  assert.equal((await view(name)).integrity, packed.integrity);
  check('the command of the workflow builds the same bytes again, and publishes them', true);

  const again = await release(registry);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /expected no tag.*\nexpected .* not to be published yet/);
  check('a second release of the version is refused', true);
}

const good = prepare();
const registry = await startRegistry();
try {
  await checkFaults(registry.address, good);
  await checkRelease(registry.address, good);
} finally {
  registry.close();
  rmSync(work, { recursive: true, force: true });
}
