import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PATIENCE_MS, startServer } from './example-server.js';
import { check, launchChromium, repository } from './packed.js';

const FILE_BYTES = 4 * 1024 * 1024;

/**
 * Drives the page of an example in Chromium: prices, a search, an upload, and the end of its server. `states` are the example's words
 * for a resource that is open and for an upload that has ended. `steps` check what only this page has. With `--screenshot` it writes
 * the picture of the guide.
 */
export async function drivePage({ name, directory, program, path = '/', states, isFault = () => false, steps = {} }) {
  let server = await startServer(directory, program);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 820, height: 700 } });
    page.setDefaultTimeout(PATIENCE_MS);
    const errors = [];
    page.on('pageerror', (error) => errors.push(error));
    page.on('console', (message) => {
      if (isFault(message.text())) errors.push(message.text());
    });
    const shows = (selector, text) => page.locator(selector, { hasText: text }).waitFor();

    await page.goto(`http://127.0.0.1:${server.port}${path}`);
    await shows('.badge', /^live$/);
    await shows('h2', `200 prices, ${states.open}`);
    await page.locator('.prices b', { hasNotText: '100.00' }).first().waitFor();
    check('the table shows 200 prices, and their changes', true);
    await steps.opened?.(page, shows);

    await page.locator('input[type=search]').pressSequentially('ap');
    await shows('#hits', /^apple, apricot$/);
    await server.printed('cancelled a');
    check('a search is cancelled on the server as soon as the user types on', true);

    await page.setInputFiles('input[type=file]', { name: 'film', mimeType: 'video/mp4', buffer: Buffer.alloc(FILE_BYTES, 7) });
    await shows('#upload', `${FILE_BYTES} of ${FILE_BYTES} bytes, ${states.uploaded}`);
    check('an upload shows its progress to the end', (await page.locator('progress').evaluate(({ value }) => value)) === FILE_BYTES);
    if (process.argv.includes('--screenshot')) {
      await page.screenshot({ path: join(repository, `docs/${name}.png`), clip: { x: 0, y: 0, width: 820, height: 340 } });
    }

    await server.kill();
    await shows('.badge', /^reconnecting$/);
    await shows('h2', '200 prices, reconnecting');
    check('a lost server leaves the prices on the page', (await page.locator('.prices li').count()) === 200);
    await steps.reconnecting?.(page, shows);

    server = await startServer(directory, program, server.port);
    await shows('.badge', /^live$/);
    await shows('h2', `200 prices, ${states.open}`);
    check('the page continues on the next socket', true);
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    await server.kill();
  }
}
