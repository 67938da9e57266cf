// Bundles the packed package with Parcel for a page, and with Metro for React Native, whose engine compiles and runs it.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { check, launchChromium, project, removeAll, run } from './packed.js';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript' };

/** Serves the files of a folder. */
async function serveFiles(directory) {
  const server = createServer(({ url }, response) => {
    const path = url === '/' ? '/index.html' : url;
    try {
      const content = readFileSync(join(directory, path));
      response.setHeader('Content-Type', TYPES[extname(path)] ?? 'application/octet-stream').end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

async function checkParcel() {
  const directory = project('parcel', 'parcel', 'module');
  run(directory, process.execPath, 'node_modules/parcel/lib/bin.js', 'build', 'index.html', '--no-cache', '--dist-dir', 'page');
  const files = await serveFiles(join(directory, 'page'));
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(files.url);
    const shown = await page.textContent('output');
    assert.equal(shown, '{"codecs":["json","msgpack"],"inMemory":"hello parcel"}');
    check('a page of Parcel finds rxmux, rxmux/msgpack and rxmux/testing', true);
  } finally {
    await browser.close();
    files.close();
  }
}

/** Uses the compiler of the installed React Native. The engine is the newest one on npm for this platform, which is older. */
function checkMetro() {
  const directory = project('metro', 'metro', 'commonjs');
  run(directory, process.execPath, 'bundle.js');
  const bundle = readFileSync(join(directory, 'bundle.out.js'), 'utf8');
  check('Metro bundles for React Native without import.meta', !bundle.includes('import.meta'));
  run(
    directory,
    hermes(directory, 'hermes-compiler/hermesc/linux64-bin/hermesc'),
    '-O',
    '-w',
    '-emit-binary',
    '-out',
    'bundle.hbc',
    'bundle.out.js',
  );
  check('hermesc compiles the bundle', true);
  writeFileSync(join(directory, 'program.js'), readFileSync(join(directory, 'platform.js'), 'utf8') + bundle);
  const engine = hermes(directory, 'hermes-engine-cli/linux64-bin/hermes');
  const [printed] = run(directory, engine, '-w', '-Xmicrotask-queue', 'program.js').split('\n');
  assert.deepEqual(JSON.parse(printed), { codec: 'json', codecs: ['json', 'msgpack'], answer: 42, same: true });
  check('Hermes runs the bundle, in which import and require share one instance', true);
}

/** Makes a binary executable. Its package does not declare it, so npm has not done that. */
function hermes(directory, path) {
  const binary = join(directory, 'node_modules', path);
  chmodSync(binary, 0o755);
  return binary;
}

try {
  await checkParcel();
  checkMetro();
} finally {
  removeAll();
}
