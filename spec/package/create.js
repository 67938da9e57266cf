// Makes projects with `npx rxmux create` of the packed package: each is type-checked, tested, built and started. Its page shows a stream.
// `node spec/package/create.js react` takes this page alone.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, emptyFolder, filesBelow, install, launchChromium, removeAll, run, tarball } from './packed.js';

const kinds = process.argv.length > 2 ? process.argv.slice(2) : ['vanilla', 'react'];
const PATIENCE_MS = 60_000;

/** The project takes the packed package in place of the registry's. */
function create(maker, kind) {
  run(maker, 'npx', 'rxmux', 'create', '--page', kind, `my-${kind}`);
  const directory = join(maker, `my-${kind}`);
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  manifest.dependencies.rxmux = `file:${tarball}`;
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  run(directory, 'npm', 'install', '--no-audit', '--no-fund', '--loglevel=error');
  return directory;
}

/** The address that a server prints. */
async function started(directory) {
  const server = spawn('npm', ['start', '--silent'], {
    cwd: directory,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const [printed] = await once(server.stdout, 'data');
  return { url: printed.toString().trim(), stop: () => process.kill(-server.pid) };
}

async function checkProject(browser, maker, kind) {
  const directory = create(maker, kind);
  run(directory, 'npm', 'test', '--silent');
  check(`${kind}: the test passes`, true);
  run(directory, 'npm', 'run', 'build', '--silent');
  const page = filesBelow(join(directory, 'dist/page')).map((file) => readFileSync(file, 'utf8'));
  check(`${kind}: it type-checks and builds, and the page has nothing of the inspector`, !page.join('').includes('rxmux inspector'));
  const server = await started(directory);
  const view = await browser.newPage();
  view.on('pageerror', (error) => assert.fail(error));
  try {
    await view.goto(server.url);
    await view.locator('output', { hasText: /^\d+$/ }).waitFor({ timeout: PATIENCE_MS });
    check(`${kind}: the page of the built server shows a stream`, true);
    await view.locator('output', { hasText: 'lift-off' }).waitFor({ timeout: PATIENCE_MS });
    check(`${kind}: it shows the end of the stream`, true);
  } finally {
    await view.close();
    server.stop();
  }
}

const browser = await launchChromium();
try {
  const maker = emptyFolder('maker');
  install(maker, tarball);
  for (const kind of kinds) await checkProject(browser, maker, kind);
} finally {
  await browser.close();
  removeAll();
}
