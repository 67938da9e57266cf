// Tests, prerenders and drives examples/angular with the packed package, in Chromium. `--screenshot` writes the picture of the guide.
// The compiler of Angular 22 needs Node 22.22, 24.15 or later.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE_MS, startServer } from './example-server.js';
import { check, example, launchChromium, removeAll, repository, run } from './packed.js';

const SERVER = 'server.ts';
const FILE_BYTES = 4 * 1024 * 1024;

function test(directory) {
  assert.match(ng(directory, 'test', '--no-watch'), /3 passed/);
  check('the components pass their unit tests over a fake peer', true);
}

function build(directory) {
  run(directory, process.execPath, 'node_modules/typescript/bin/tsc', '--project', 'tsconfig.server.json');
  ng(directory, 'build');
  const page = readFileSync(join(directory, 'dist/page/browser/index.html'), 'utf8');
  check('the page is prerendered: it shows a badge and a table that wait', />connecting<.*>loading</s.test(page));
}

function ng(directory, ...args) {
  return run(directory, process.execPath, 'node_modules/@angular/cli/bin/ng.js', ...args);
}

async function drive(directory, picture) {
  let server = await startServer(directory, SERVER);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 820, height: 700 } });
    page.setDefaultTimeout(PATIENCE_MS);
    const errors = [];
    page.on('pageerror', (error) => errors.push(error));
    page.on('console', (message) => {
      if (message.text().includes('NG0')) errors.push(message.text());
    });
    const shows = (selector, text) => page.locator(selector, { hasText: text }).waitFor();
    const changed = () => page.locator('.prices b', { hasNotText: '100.00' }).first().waitFor();

    await page.goto(`http://127.0.0.1:${server.port}/`);
    await shows('.badge', /^live$/);
    await shows('h2', '200 prices, resolved');
    await changed();
    check('the table shows 200 prices, and their changes', true);

    await page.locator('input[type=search]').pressSequentially('ap');
    await shows('#hits', /^apple, apricot$/);
    await server.printed('cancelled a');
    check('switchMap cancels a search on the server as soon as the user types on', true);

    await page.setInputFiles('input[type=file]', { name: 'film', mimeType: 'video/mp4', buffer: Buffer.alloc(FILE_BYTES, 7) });
    await shows('#upload', `${FILE_BYTES} of ${FILE_BYTES} bytes, resolved`);
    check('an upload shows its progress to the end', (await page.locator('progress').evaluate(({ value }) => value)) === FILE_BYTES);
    if (picture) await page.screenshot({ path: join(repository, 'docs/angular.png'), clip: { x: 0, y: 0, width: 820, height: 340 } });

    await server.kill();
    await shows('.badge', /^reconnecting$/);
    await shows('h2', '200 prices, reconnecting');
    check('a lost server leaves the prices on the page', (await page.locator('.prices li').count()) === 200);

    server = await startServer(directory, SERVER, server.port);
    await shows('.badge', /^live$/);
    await shows('h2', '200 prices, resolved');
    check('the page continues on the next socket', true);
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    await server.kill();
  }
}

try {
  const directory = example('angular');
  test(directory);
  build(directory);
  await drive(directory, process.argv.includes('--screenshot'));
} finally {
  removeAll();
}
