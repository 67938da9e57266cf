// The rest of a newcomer's first hour, after the quick start: a page, React, Angular, a push, a test and a deploy, word for word from docs/first-hour.md.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linesOf, PATIENCE_MS, startServer } from './example-server.js';
import { lap } from './lap.js';
import { check, launchChromium, repository, run } from './packed.js';

const ANGULAR = ['core', 'common', 'compiler', 'platform-browser'].map((name) => `@angular/${name}`);

/** The files of the page. The first line of each block names its file. */
function filesOfTheHour() {
  const page = readFileSync(join(repository, 'docs/first-hour.md'), 'utf8');
  return [...page.matchAll(/```(?:tsx?|typescript|html|json)\n((?:\/\/|<!--) ([\w.]+)[^]*?)```/g)].map(([, text, name]) => ({
    name,
    text,
  }));
}

/** Starts Vite as the page does, at a free port. */
async function startVite(directory) {
  const vite = spawn('npx', ['vite', '--port', '0'], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const [url] = /http:\S+/.exec(await linesOf(vite.stdout)('  ➜  Local:'));
  return { url, close: () => process.kill(-vite.pid) };
}

/** Loads a program in the page of the first hour, and waits until it counts down. */
async function showsNumber(browser, directory, url, program, port) {
  const edit = (file, from, to) => writeFileSync(join(directory, file), readFileSync(join(directory, file), 'utf8').replace(from, to));
  edit('index.html', /src="[^"]+"/, `src="/${program}"`);
  edit(program, '8080', String(port));
  const page = await browser.newPage();
  try {
    await page.goto(url);
    await page.waitForFunction('Number(document.body.innerText) > 0', undefined, { timeout: PATIENCE_MS });
    check(`${program} shows the countdown in a page`, true);
  } finally {
    await page.close();
  }
}

/** Reads what a server pushes. */
async function checkPush(directory) {
  const newsroom = await startServer(directory, 'newsroom.ts');
  const reader = spawn(process.execPath, ['reader.ts', `ws://localhost:${newsroom.port}`], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await linesOf(reader.stdout)('news ');
    check('a client prints what a server pushes', true);
  } finally {
    reader.kill('SIGKILL');
    await newsroom.kill();
  }
}

/** Ends the server while a client reads. */
async function checkDeploy(directory) {
  const { port, end } = await startServer(directory, 'deploy.ts');
  const program = `import { connect } from 'rxmux/node'; import { client } from 'rxmux/contract'; import { api } from './api.ts';
    const peer = connect(process.argv[1]);
    client(peer, api).countdown({ from: 5 }).subscribe({ next: console.log, complete: () => console.log('complete') });`;
  const caller = spawn(process.execPath, ['--input-type=module', '--eval', program, `ws://localhost:${port}`], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const printed = linesOf(caller.stdout);
    await printed('5');
    const ended = end('SIGTERM');
    await printed('complete');
    assert.equal(await ended, 0);
    check('a server that ends finishes the stream of its client, and leaves with 0', true);
  } finally {
    caller.kill('SIGKILL');
  }
}

/** Walks on in the folder of the quick start. */
export async function firstHour(directory) {
  for (const { name, text } of filesOfTheHour()) writeFileSync(join(directory, name), text);
  const add = (...packages) => run(directory, 'npm', 'install', '--loglevel=error', ...packages);
  const browser = await launchChromium();
  const server = await startServer(directory, 'server.ts');
  add('--save-dev', 'vite', 'typescript', '@types/node');
  const vite = await startVite(directory);
  const opens = (program) => showsNumber(browser, directory, vite.url, program, server.port);
  try {
    await lap('a page', () => opens('page.ts'));
    await lap('React', () => {
      add('react', 'react-dom');
      add('--save-dev', '@types/react', '@types/react-dom');
      return opens('react.tsx');
    });
    await lap('Angular', () => {
      add(...ANGULAR);
      return opens('angular.ts');
    });
    await lap('a push', () => checkPush(directory));
    await lap('a test', () => {
      run(directory, process.execPath, '--test', 'square.test.ts');
      check('the test in memory passes', true);
    });
    await lap('a deploy', () => checkDeploy(directory));
    run(directory, 'npx', 'tsc');
    check('all programs of the first hour type-check', true);
  } finally {
    await server.kill();
    vite.close();
    await browser.close();
  }
}
