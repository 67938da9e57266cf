// Builds examples/chat with the package as it was built last. Runs its own check, and then drives two pages in Chromium.
// `--screenshot` writes the picture of its README.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { check, launchChromium, repository, run } from './checks.js';
import { PATIENCE_MS, startServer } from './example-server.js';

const PROGRAM = 'dist/examples/chat/main.js';

/** Opens the page of a member. The returned functions act as its user. */
async function open(browser, url, name) {
  const page = await browser.newPage({ viewport: { width: 760, height: 740 } });
  page.setDefaultTimeout(PATIENCE_MS);
  const errors = [];
  page.on('pageerror', (error) => errors.push(error));
  const shows = (selector, text) => page.locator(selector, { hasText: text }).first().waitFor();
  const server = () => page.locator('#server').textContent();
  /** Ends the server of this page, and waits for the next one. */
  const end = async (signal) => {
    const before = await server();
    await page.click(`#${signal}`);
    await page.locator('#server', { hasNotText: before }).waitFor();
    await page.locator('#status', { hasText: /^open$/ }).waitFor();
  };
  await page.goto(`${url}?name=${name}`);
  await shows('#server', /^server [AB]$/);
  return { page, errors, shows, server, end, audit: () => page.locator('#audit').textContent() };
}

/** Waits until all pages have heard the same lines, each of them once. A line that was on its way when its server ended may still come. */
async function agreement(pages) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const [one, ...others] = await Promise.all(pages.map((page) => page.audit()));
    if (/^\d+ lines, 0 missing, 0 repeated$/.test(one) && others.every((other) => other === one)) return one;
    assert(Date.now() < end, `expected the same lines on all pages, got '${[one, ...others].join("' and '")}'`);
    await setTimeout(100);
  }
}

async function drive() {
  const demo = await startServer(repository, PROGRAM);
  const browser = await launchChromium();
  try {
    const url = `http://127.0.0.1:${demo.port}/`;
    const ann = await open(browser, url, 'ann');
    const bob = await open(browser, url, 'bob');
    for (const { shows } of [ann, bob]) await shows('#members', /^annbob$/);
    check('two pages show two members', true);

    for (const { page } of [ann, bob]) await page.check('#talk');
    await ann.shows('#lines', 'ann: thought 2');
    await ann.end('SIGKILL');
    await ann.shows('#lines', 'ann: thought 5');
    await ann.end('SIGTERM');
    await ann.shows('#lines', 'ann: thought 8');
    for (const { page } of [ann, bob]) await page.uncheck('#talk');
    await ann.page.fill('#text', 'That was all.');
    await ann.page.press('#text', 'Enter');
    for (const { shows } of [ann, bob]) await shows('#lines', 'ann: That was all.');
    check(`both pages heard every line once, over servers that were killed and drained: ${await agreement([ann, bob])}`, true);
    assert.deepEqual([...ann.errors, ...bob.errors], []);
    if (process.argv.includes('--screenshot')) await ann.page.screenshot({ path: join(repository, 'docs/chat.png') });
    await bob.page.reload();
    check(`a page that is loaded anew shows the lines of before: ${await agreement([ann, bob])}`, true);
    await bob.page.click('text=games');
    await ann.shows('#members', /^ann$/);
    check('a member that goes to another room leaves the first one', true);
  } finally {
    await browser.close();
    await demo.kill();
  }
}

run(repository, 'npm', 'run', '--silent', 'build:chat');
console.log(run(repository, process.execPath, PROGRAM, '--once').trimEnd());
await drive();
