// The rest of a newcomer's first hour, after the quick start: a page, React, Angular, a push, a test and a deploy, word for word from docs/first-hour.md.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { build } from 'esbuild';
import { linesOf, PATIENCE_MS, startServer } from './example-server.js';
import { lap } from './lap.js';
import { check, launchChromium, repository, run } from './packed.js';

const ANGULAR = ['core', 'common', 'compiler', 'platform-browser'].map((name) => `@angular/${name}`);

/** The files of the page. The first line of each block names its file. */
function filesOfTheHour() {
  const page = readFileSync(join(repository, 'docs/first-hour.md'), 'utf8');
  return [...page.matchAll(/```(?:tsx?|typescript)\n(\/\/ ([\w.]+)\n[^]*?)```/g)].map(([, text, name]) => ({ name, text }));
}

/** Bundles a program for a page, which calls the server on its port, and opens the page. */
async function open(browser, directory, program, port) {
  const text = readFileSync(join(directory, program), 'utf8').replace('8080', String(port));
  const stdin = { contents: text, resolveDir: directory, loader: 'tsx' };
  const tsconfigRaw = { compilerOptions: { experimentalDecorators: true, jsx: 'react-jsx' } };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm', tsconfigRaw, logLevel: 'error' });
  const files = createServer(({ url }, response) => {
    if (url === '/page.js') response.setHeader('Content-Type', 'text/javascript').end(outputFiles[0].contents);
    else response.setHeader('Content-Type', 'text/html').end('<!doctype html><body><script type="module" src="/page.js"></script>');
  }).listen(0, '127.0.0.1');
  await once(files, 'listening');
  const page = await browser.newPage();
  await page.goto(`http://localhost:${files.address().port}/`);
  return { page, close: () => files.close() };
}

async function showsNumber(browser, directory, program, port, read) {
  const { page, close } = await open(browser, directory, program, port);
  try {
    await page.waitForFunction(read, undefined, { timeout: PATIENCE_MS });
    check(`${program} shows the countdown in a page`, true);
  } finally {
    await page.close();
    close();
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
  const browser = await launchChromium();
  const server = await startServer(directory, 'server.ts');
  try {
    await lap('a page', () => showsNumber(browser, directory, 'page.ts', server.port, 'Number(document.title) > 0'));
    await lap('React', async () => {
      run(directory, 'npm', 'install', '--loglevel=error', 'react', 'react-dom');
      await showsNumber(browser, directory, 'react.tsx', server.port, "Number(document.querySelector('output')?.textContent) > 0");
    });
    await lap('Angular', async () => {
      run(directory, 'npm', 'install', '--loglevel=error', ...ANGULAR);
      await showsNumber(browser, directory, 'angular.ts', server.port, "Number(document.querySelector('output')?.textContent) > 0");
    });
    await lap('a push', () => checkPush(directory));
    await lap('a test', () => {
      run(directory, process.execPath, '--test', 'square.test.ts');
      check('the test in memory passes', true);
    });
    await lap('a deploy', () => checkDeploy(directory));
  } finally {
    await server.kill();
    await browser.close();
  }
}
