// The way of a newcomer with the packed package: the quick start of the README, word for word in a fresh folder. Then two versions of a
// contract, each in a package: old and new peers call each other. Then the first change of a contributor. Node 22.18 or later runs the TypeScript of the quick start.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from './example-server.js';
import { firstChange } from './first-change.js';
import { firstHour } from './first-hour.js';
import { lap } from './lap.js';
import { quickStart } from './quick-start.js';
import { check, consumers, emptyFolder, install, pack, project, removeAll, run, tarball } from './packed.js';

/** The values after the arrows of a program. */
function promised(program) {
  return [...program.matchAll(/\/\/ →(.*)$/gm)].flatMap(([, values]) => values.split('→').map((value) => value.trim()));
}

async function checkQuickStart() {
  const directory = emptyFolder('newcomer');
  const files = quickStart();
  await lap('Node, from an empty folder', () => runQuickStart(directory, files));
  await firstHour(directory);
  checkTypes(directory, files.get('client.ts'));
}

async function runQuickStart(directory, files) {
  assert.deepEqual([...files.keys()], ['api.ts', 'server.ts', 'client.ts', 'page.ts']);
  for (const [name, text] of files) writeFileSync(join(directory, name), text);
  run(directory, 'npm', 'init', '--yes');
  run(directory, 'npm', 'pkg', 'set', 'type=module');
  run(directory, 'npm', 'install', '--loglevel=error', tarball, 'rxjs');

  const server = await startServer(directory, 'server.ts');
  try {
    const printed = run(directory, process.execPath, 'client.ts', `ws://localhost:${server.port}`);
    assert.deepEqual(printed.trim().split('\n'), promised(files.get('client.ts')));
    check('the quick start runs in a fresh folder, and its typed calls print their values', true);
  } finally {
    await server.kill();
  }
}

/** The first hour has checked the types of the folder as it is. */
function checkTypes(directory, program) {
  writeFileSync(join(directory, 'client.ts'), program.replace('calls.square', 'calls.sqaure'));
  const { stdout } = spawnSync('npx', ['tsc'], { cwd: directory, encoding: 'utf8' });
  assert.match(stdout, /^client\.ts.*Property 'sqaure' does not exist.*Did you mean 'square'\?/);
  check('the compiler finds a mistyped name', true);
}

/** A project with one version of the contract, its answers and its calls. */
function shop(version) {
  const directory = project(`shop-of-version-${version}`, 'shop-peers', 'module');
  install(directory, tarball, pack(join(consumers, `shop-${version}`)));
  return directory;
}

async function ask(asking, answering) {
  const server = await startServer(answering, 'server.js');
  try {
    return JSON.parse(run(asking, process.execPath, 'client.js', `ws://127.0.0.1:${server.port}`));
  } finally {
    await server.kill();
  }
}

async function checkVersions() {
  const [older, newer] = [shop(1), shop(2)];
  assert.deepEqual(await ask(older, newer), { price: { cents: 4 } });
  check('an older client calls a newer server', true);
  assert.deepEqual(await ask(newer, older), { price: { cents: 4 }, book: 'unknown' });
  check('a newer client calls an older server, and catches UNKNOWN for a procedure that the server lacks', true);
  assert.deepEqual(await ask(newer, newer), { price: { cents: 40, factor: 10 }, book: 'booked 12A' });
  check('two newer peers use the new field and the new procedure', true);
}

try {
  await checkQuickStart();
  await checkVersions();
  await firstChange();
} finally {
  removeAll();
}
