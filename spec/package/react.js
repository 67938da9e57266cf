// Lints, builds and drives examples/react with the packed package, in Chromium. `--screenshot` writes the picture of the guide.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE_MS, startServer } from './example-server.js';
import { check, example, filesBelow, launchChromium, removeAll, repository, run } from './packed.js';

const SERVER = 'dist/server/server.js';
const FILE_BYTES = 4 * 1024 * 1024;

/** By the rules of React's own plugin, with its compiler, and by the rules of create-vite. */
function lint(directory) {
  const bin = (name) => join(directory, 'node_modules/.bin', name);
  const linted = ['src/react', 'examples/react'];
  run(repository, bin('oxlint'), '--config', join(directory, '.oxlintrc.json'), '--deny-warnings', ...linted);
  run(repository, bin('eslint'), '--config', join(directory, 'eslint.config.js'), '--max-warnings', '0', ...linted);
  check('the hooks and the example pass eslint-plugin-react-hooks and oxlint', true);
}

function build(directory) {
  run(directory, 'npm', 'run', '--silent', 'build');
  const scripts = filesBelow(join(directory, 'dist/page')).filter((path) => path.endsWith('.js'));
  check(
    'React Compiler has compiled the components',
    scripts.some((path) => readFileSync(path, 'utf8').includes('react.memo_cache_sentinel')),
  );
}

async function drive(directory, picture) {
  let server = await startServer(directory, SERVER);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 820, height: 700 } });
    page.setDefaultTimeout(PATIENCE_MS);
    const errors = [];
    page.on('pageerror', (error) => errors.push(error));
    const shows = (selector, text) => page.locator(selector, { hasText: text }).waitFor();
    const changed = () => page.locator('.prices b', { hasNotText: '100.00' }).first().waitFor();

    await page.goto(`http://127.0.0.1:${server.port}/`);
    await shows('.badge', /^live$/);
    await shows('h2', '200 prices, open');
    await changed();
    check('the table shows 200 prices, and their changes', true);

    await shows('#news', 'line 1, line 2, line 3');
    check('streamedQuery of TanStack Query shows the lines of a stream', true);

    await page.locator('input[type=search]').pressSequentially('ap');
    await shows('#hits', /^apple, apricot$/);
    await server.printed('cancelled a');
    check('a search is cancelled on the server as soon as the user types on', true);

    await page.setInputFiles('input[type=file]', { name: 'film', mimeType: 'video/mp4', buffer: Buffer.alloc(FILE_BYTES, 7) });
    await shows('#upload', `${FILE_BYTES} of ${FILE_BYTES} bytes, complete`);
    check('an upload shows its progress to the end', (await page.locator('progress').getAttribute('value')) === String(FILE_BYTES));
    if (picture) await page.screenshot({ path: join(repository, 'docs/react.png'), clip: { x: 0, y: 0, width: 820, height: 340 } });

    await server.kill();
    await shows('.badge', /^reconnecting$/);
    await shows('h2', '200 prices, reconnecting');
    check('a lost server leaves the prices on the page', (await page.locator('.prices li').count()) === 200);
    check('an answered search stays as it is', (await page.locator('#hits').textContent()) === 'apple, apricot');

    server = await startServer(directory, SERVER, server.port);
    await shows('.badge', /^live$/);
    await shows('h2', '200 prices, open');
    check('the page continues on the next socket', true);
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    await server.kill();
  }
}

try {
  const directory = example('react');
  lint(directory);
  build(directory);
  await drive(directory, process.argv.includes('--screenshot'));
} finally {
  removeAll();
}
