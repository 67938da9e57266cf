// Makes projects with `npx rxmux create` of the packed package: each is type-checked, tested, built and started, and runs with Vite. Its
// page shows a stream, and fits a phone. Nothing is compiled at `npm install`, as in the sandboxes of a browser.
// `node spec/package/create.js vue` takes this template alone.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { check, emptyFolder, filesBelow, importFrom, install, launchChromium, removeAll, run, tarball } from './packed.js';

const templates = process.argv.length > 2 ? process.argv.slice(2) : ['vanilla', 'react', 'angular', 'vue'];
const PATIENCE_MS = 60_000;
const PHONE = { width: 390, height: 700 };

/** The command npm, on a Node that the template's compiler runs on. */
function npmFor(template) {
  const [major = 0] = process.versions.node.split('.').map(Number);
  return template === 'angular' && major < 22 ? ['npx', '--yes', '--package', 'node@24', '--', 'npm'] : ['npm'];
}

/** The project takes the packed package in place of the registry's. */
function create(maker, template, npm) {
  run(maker, 'npx', 'rxmux', 'create', '--template', template, `my-${template}`);
  const directory = join(maker, `my-${template}`);
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  manifest.dependencies.rxmux = `file:${tarball}`;
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  run(directory, ...npm, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error');
  return directory;
}

/** Runs a script until it prints an address at the end of a line. */
async function started(directory, [command, ...args], script, environment = {}) {
  const server = spawn(command, [...args, 'run', '--silent', script], {
    cwd: directory,
    env: { ...process.env, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const stop = async () => {
    const exit = once(server, 'exit');
    process.kill(-server.pid);
    await exit;
  };
  const lines = [];
  for await (const line of createInterface({ input: server.stdout })) {
    const [url] = /http:\S+\/$/.exec(stripVTControlCharacters(line)) ?? [];
    if (url !== undefined) return { url, stop };
    lines.push(line);
  }
  return assert.fail(`expected the script ${script} to print an address, got:\n${lines.join('\n')}`);
}

/** Opens a page on a phone, waits for the end of its stream, and resolves to its colours. */
async function view(browser, url, colorScheme, shown) {
  const page = await browser.newPage({ viewport: PHONE, colorScheme });
  page.setDefaultTimeout(PATIENCE_MS);
  const errors = [];
  page.on('pageerror', (error) => errors.push(error));
  try {
    await page.goto(url);
    await page.locator('output', { hasText: /^\d+$/ }).waitFor();
    await page.locator('output', { hasText: 'lift-off' }).waitFor();
    assert.deepEqual(errors, []);
    await shown?.(page);
    return await page.locator('html').evaluate((html) => {
      const { color, backgroundColor } = html.ownerDocument.defaultView.getComputedStyle(html);
      return { color, backgroundColor, tooWide: html.scrollWidth - html.clientWidth };
    });
  } finally {
    await page.close();
  }
}

/** Whether the page of a sandbox may call a server, which sees another host. */
async function admits(maker, url) {
  const { connect } = await importFrom(maker, 'rxmux/node');
  const peer = connect(`${url}mux`, { headers: { origin: 'https://shop--5173.webcontainer.io' } });
  const answer = await peer.request(['square', { n: 12 }]).catch((error) => error.message);
  await peer.close();
  return answer === 144;
}

async function checkProject(browser, maker, template) {
  const npm = npmFor(template);
  const directory = create(maker, template, npm);
  run(directory, ...npm, 'test', '--silent');
  check(`${template}: the test passes`, true);

  const server = await started(directory, npm, 'start');
  try {
    const scripts = filesBelow(join(directory, 'dist/page')).map((file) => readFileSync(file, 'utf8'));
    check(
      `${template}: npm start type-checks and builds, and the page has nothing of the inspector`,
      !scripts.join('').includes('rxmux inspector'),
    );
    const light = await view(browser, server.url, 'light');
    const dark = await view(browser, server.url, 'dark');
    check(`${template}: the page of the built server shows a stream and its end`, true);
    check(`${template}: it has a light and a dark style`, light.color !== dark.color && light.backgroundColor !== dark.backgroundColor);
    check(`${template}: it fits a phone`, light.tooWide <= 0 && dark.tooWide <= 0);
    check(`${template}: pages of other hosts may not call`, !(await admits(maker, server.url)));
  } finally {
    await server.stop();
  }

  const vite = await started(directory, npm, 'dev');
  try {
    await view(browser, vite.url, 'light', (page) => page.getByRole('button', { name: 'rxmux' }).waitFor());
    check(`${template}: npm run dev serves the page, its calls and the inspector on one port`, true);
  } finally {
    await vite.stop();
  }

  const { stackblitz } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const sandbox = await started(directory, npm, 'start', stackblitz.env);
  try {
    check(`${template}: in a sandbox pages of other hosts may call`, await admits(maker, sandbox.url));
  } finally {
    await sandbox.stop();
  }
}

const browser = await launchChromium();
try {
  const maker = emptyFolder('maker');
  install(maker, tarball);
  for (const template of templates) await checkProject(browser, maker, template);
} finally {
  await browser.close();
  removeAll();
}
