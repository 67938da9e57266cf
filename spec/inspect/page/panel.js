// Opens the inspector as a panel of a page: `showInspector` of rxmux/inspector.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const repository = join(import.meta.dirname, '../../..');
const source = (name) => join(repository, 'src', `${name}.ts`);

const PROGRAM = `import { showInspector } from 'rxmux/inspector';
import { createPair } from 'rxmux/testing';
const { dialer, acceptor } = createPair();
acceptor.onStream(({ op }, stream) => stream.reply({ op }));
const panel = showInspector(dialer);
dialer.request({ op: 'early' });
globalThis.call = (op) => dialer.request({ op });
globalThis.closePanel = () => panel.close();
globalThis.fill = (element) => showInspector(dialer, { element });`;

const HTML = `<!doctype html><html lang="en"><head><title>A page</title><link rel="icon" href="data:,"></head>
<body><main><h1>A page</h1><div id="own" style="height: 400px"></div></main><script type="module" src="/stdin.js"></script></body></html>`;

/** The page's scripts, as a bundler splits them. */
async function scripts() {
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, resolveDir: repository },
    absWorkingDir: repository,
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    outdir: 'scripts',
    target: 'es2022',
    alias: Object.fromEntries(
      ['index', 'inspect', 'inspector', 'testing'].map((name) => [name === 'index' ? 'rxmux' : `rxmux/${name}`, source(name)]),
    ),
    plugins: [
      {
        name: 'built page',
        setup: ({ onResolve }) => onResolve({ filter: /^\.\/page\.js$/ }, () => ({ path: join(repository, 'dist/inspector/page.js') })),
      },
    ],
    ignoreAnnotations: true,
    logLevel: 'warning',
  });
  return new Map(outputFiles.map(({ path, text }) => [`/${basename(path)}`, text]));
}

/** @param opened opens an address in a page of its own */
export async function opensAPanel(opened, check) {
  const files = await scripts();
  const loaded = [];
  const server = createServer(({ url }, response) => {
    loaded.push(url);
    const script = files.get(url);
    response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript').end(script ?? HTML);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const page = await opened(`http://127.0.0.1:${server.address().port}/`);
  try {
    const button = page.getByRole('button', { name: 'the rxmux inspector' });
    await button.waitFor();
    await page.evaluate(() => globalThis.call('later'));
    const names = page.getByRole('region', { name: 'rxmux inspector' }).locator('.names li b');
    const isPage = (url) => files.get(url)?.includes('.uplot') === true;
    check('a page loads the code of the panel only once it is opened', !loaded.some(isPage) && (await names.count()) === 0);
    await button.click();
    for (const name of ['early', 'later']) await names.filter({ hasText: name }).first().waitFor();
    check('the panel shows what was before it was opened', loaded.some(isPage));
    check('the button says that the panel is open', (await button.getAttribute('aria-expanded')) === 'true');
    await page.evaluate(() => globalThis.call('live'));
    await names.filter({ hasText: 'live' }).first().waitFor();
    check('the panel shows a call as it is made', true);
    await button.click();
    await names.first().waitFor({ state: 'detached' });
    await button.click();
    await names.filter({ hasText: 'early' }).first().waitFor();
    check('the panel hides, and opens again with its history', true);
    await page.evaluate(() => globalThis.closePanel());
    await button.waitFor({ state: 'detached' });
    check('a closed panel leaves nothing in the page', (await page.locator('body > div').count()) === 0);
    await page.evaluate(() => void globalThis.fill(globalThis.document.getElementById('own')));
    await page.evaluate(() => globalThis.call('filled'));
    await page.locator('#own .names li b', { hasText: 'filled' }).first().waitFor();
    check('the inspector fills an element of the page', true);
  } finally {
    await page.context().close();
    server.close();
  }
}
