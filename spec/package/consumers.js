// Packs the package and uses it in the projects of users: bare ES modules, bare CommonJS, a mix of both, Vite, and tests in jsdom.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { build, transformSync } from 'esbuild';
import {
  check,
  consumers,
  filesBelow,
  importFrom,
  install,
  launchChromium,
  manifest,
  project,
  removeAll,
  repository,
  run,
  tarball,
} from './packed.js';

/** How long Vite may take to answer. */
const START_MS = 30_000;

const { peerDependencies, version } = manifest;
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

function checkProgram(directory, title) {
  const result = JSON.parse(run(directory, process.execPath, 'program.js'));
  assert.deepEqual(result, {
    byDefault: 'json',
    codecs: ['json', 'msgpack'],
    overSocket: 42,
    byContract: 42,
    inMemory: 'hello ada',
    version,
  });
  check(title, true);
}

function checkNodeProject(type) {
  const directory = project(type, 'node', type);
  for (const config of ['tsconfig.json', 'tsconfig.context.json']) run(directory, process.execPath, tsc, '--project', config);
  checkProgram(directory, `a ${type} project type-checks and runs`);
  return directory;
}

/** The oldest compiler that the README names, and a newer one than the project's own. */
function checkCompilers(directory) {
  const versions = ['5.0', '7.0'];
  install(directory, tarball, ...versions.map((compiler) => `typescript-${compiler}@npm:typescript@${compiler}`));
  for (const compiler of versions) {
    run(directory, process.execPath, `node_modules/typescript-${compiler}/bin/tsc`, '--project', '.');
    check(`it type-checks with TypeScript ${compiler}`, true);
  }
}

/** Runs after the type check, since the typings of the oldest rxjs do not support the module resolution. */
function checkOldestPeers(directory) {
  const oldest = Object.entries(peerDependencies).map(([name, range]) => `${name}@${range.replace(/^\D+/, '')}`);
  install(directory, tarball, ...oldest);
  checkProgram(directory, `it runs with ${oldest.join(' and ')}`);
  checkIndexKeys(directory);
  checkKeptData(directory);
}

/** An object of one high index holds no place of 8 bytes for each index below. Decoders before 3.1.0 passed over the converter of keys. */
function checkIndexKeys(directory) {
  const program = `const { MsgpackCodec } = require('rxmux/msgpack');
    const codec = new MsgpackCodec();
    const heldBy = (key) => {
      gc();
      const before = process.memoryUsage().heapUsed;
      const values = Array.from({ length: 1_000 }, () => codec.decodePayload(codec.encodePayload({ [key]: 1 })));
      gc();
      return (process.memoryUsage().heapUsed - before) / values.length;
    };
    heldBy('warm');
    console.log(heldBy('1023') < (8 * 1023) / 2);`;
  const printed = run(directory, process.execPath, '--expose-gc', '--input-type=commonjs', '--eval', program);
  check('an index key reserves no memory with the oldest @msgpack/msgpack', printed === 'true\n');
}

/** Before 5.80.10 a query took back the data of a stream once its last reader had left. */
function checkKeptData(directory) {
  const program = `const { QueryClient, QueryObserver } = require('@tanstack/query-core');
    const { NEVER, concat, of } = require('rxjs');
    const { contract, stream } = require('rxmux/contract');
    const { queries } = require('rxmux/tanstack');
    const { createPair } = require('rxmux/testing');
    const api = contract({ lines: stream() });
    const { dialer } = createPair(api, { lines: () => concat(of('a'), NEVER) });
    const client = new QueryClient();
    const options = queries(dialer, api).lines.streamedOptions();
    const leave = new QueryObserver(client, options).subscribe(({ data }) => {
      if (data === undefined) return;
      leave();
      console.log(client.getQueryData(options.queryKey).join());
      process.exit();
    });`;
  const printed = run(directory, process.execPath, '--input-type=commonjs', '--eval', program);
  check('a streamed query keeps its data with the oldest @tanstack/query-core', printed === 'a\n');
}

/** The oldest React of the range renders on a server, where no stream opens. */
function checkOldestReact(directory) {
  install(directory, tarball, 'react@18.0.0', 'react-dom@18.0.0');
  const program = `import { createElement } from 'react';
    import { renderToString } from 'react-dom/server';
    import { interval } from 'rxjs';
    import { useStream } from 'rxmux/react';
    console.log(renderToString(createElement(() => useStream(() => interval(1)).status)));`;
  check(
    'rxmux/react renders with React 18.0',
    run(directory, process.execPath, '--input-type=module', '--eval', program) === 'connecting\n',
  );
}

/** The `asapScheduler` of rxjs 7.5.5 to 7.8.0 stops when tasks schedule tasks. */
function checkStallingScheduler(directory) {
  install(directory, tarball, 'rxjs@7.8.0');
  const program = `import { createPair } from 'rxmux/testing';
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    for (let n = 0; n < 3; n++) console.log(await dialer.request(n));
    process.exit();`;
  const printed = run(directory, process.execPath, '--input-type=module', '--eval', program);
  check('peers in memory answer with rxjs 7.8.0', printed.trim().split(/\s+/).join() === '0,1,2');
}

/** By the provider of the user's program, from an ES module and from CommonJS. */
function checkTracing(directory) {
  const { devDependencies } = manifest;
  install(
    directory,
    tarball,
    ...['api', 'sdk-trace-base'].map((name) => `@opentelemetry/${name}@${devDependencies[`@opentelemetry/${name}`]}`),
  );
  const program = (load) => `(async () => {
    const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = ${load}('@opentelemetry/sdk-trace-base');
    const { instrument } = ${load}('rxmux/otel');
    const { createPair } = ${load}('rxmux/testing');
    const exporter = new InMemorySpanExporter();
    const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const { dialer, acceptor } = createPair();
    for (const peer of [dialer, acceptor]) instrument(peer, { tracerProvider, methods: ['square'] });
    acceptor.onStream(([, n], stream) => stream.reply(n * n));
    await dialer.request(['square', 12]);
    await dialer.close();
    console.log(exporter.getFinishedSpans().map(({ name }) => name).join());
  })()`;
  for (const [kind, load] of [
    ['module', 'await import'],
    ['commonjs', 'require'],
  ]) {
    const printed = run(directory, process.execPath, `--input-type=${kind}`, '--eval', program(load));
    check(`rxmux/otel traces both ends of a call (${kind})`, printed === 'square,square\n');
  }
}

function checkCommand(directory) {
  const printed = run(directory, process.execPath, 'node_modules/.bin/rxmux', '--help');
  check('the command starts', printed.includes('rxmux COMMAND'));
}

/** A comment about a map that is not there makes tools of users warn. */
function checkNoMaps(directory) {
  const files = filesBelow(join(directory, 'node_modules/rxmux'));
  const naming = files.filter((path) => path.endsWith('.map') || readFileSync(path, 'utf8').includes('sourceMappingURL'));
  assert.deepEqual(naming, []);
  check(`none of ${files.length} files names a source map`, files.length > 0);
}

/** A program that imports only this door still finds json, which the main door registers. */
function checkAlone(directory) {
  for (const [door, use] of [
    ['node', "door.connect('ws://127.0.0.1:9').close()"],
    ['testing', 'const { dialer, acceptor } = door.createPair(); dialer.close(); acceptor.close()'],
  ]) {
    run(directory, process.execPath, '--input-type=module', '--eval', `import * as door from 'rxmux/${door}'; ${use}`);
    check(`rxmux/${door} alone knows json`, true);
  }
}

/** Stacks, logs and heap snapshots show the name that a class has in its source. */
function checkClassNames(directory) {
  const list = `for (const door of ['rxmux', 'rxmux/node', 'rxmux/msgpack', 'rxmux/rich', 'rxmux/port', 'rxmux/session', 'rxmux/contract', 'rxmux/topics', 'rxmux/inspect', 'rxmux/inspector', 'rxmux/vite', 'rxmux/testing'])
    for (const [name, value] of Object.entries(await import(door))) if (/^class\\b/.test(String(value))) console.log(name, value.name);`;
  const pairs = run(directory, process.execPath, '--input-type=module', '--eval', list).trim().split('\n');
  assert.deepEqual(
    pairs.filter((pair) => pair.split(' ')[0] !== pair.split(' ')[1]),
    [],
  );
  check(`all ${pairs.length} classes that the doors export have kept their names`, pairs.length > 10);
}

/** In Node without a bundler, and bundled for a browser and for Node. */
async function checkOneInstance(directory) {
  cpSync(join(consumers, 'mixed'), directory, { recursive: true });
  check('import and require share one instance in Node', run(directory, process.execPath, 'main.mjs') === 'one instance\n');
  for (const platform of ['browser', 'node']) {
    const outfile = `bundled-for-${platform}.cjs`;
    await build({
      absWorkingDir: directory,
      entryPoints: ['main.mjs'],
      outfile,
      bundle: true,
      format: 'cjs',
      platform,
      external: ['node:*'],
    });
    check(`import and require share one instance bundled for ${platform}`, run(directory, process.execPath, outfile) === 'one instance\n');
  }
}

/** A page compiled for less than ES2022, as Vite 6 does by default, pays neither in bytes nor in time. */
async function checkOldTarget(directory) {
  const bundled = async (target) => {
    const contents = "import { connect } from 'rxmux'; connect('ws://x').request(1).then(console.log);";
    const options = { bundle: true, minify: true, write: false, format: 'esm', external: ['rxjs'], logLevel: 'error' };
    const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir: directory }, target });
    return outputFiles[0].text;
  };
  const [old, present] = await Promise.all(['es2020', 'es2022'].map(bundled));
  check('no private member becomes a WeakMap in ES2020', !old.includes('private field'));
  check(`ES2020 takes at most 4 % more than ES2022: ${old.length}, ${present.length} bytes`, old.length <= present.length * 1.04);
}

/** One copy of the package rejects objects of another copy, although both name their members alike. */
function checkTwoCopies(directory) {
  cpSync(join(directory, 'node_modules/rxmux'), join(directory, 'node_modules/rxmux-again'), { recursive: true });
  const program = `import { createPair } from 'rxmux/testing'; import { respond } from 'rxmux-again'; import { of } from 'rxjs';
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => of(1))).subscribe({ error: ({ message }) => console.log(message) });
    dialer.request('p').catch(() => undefined);
    setTimeout(() => process.exit(), 100);`;
  const printed = run(directory, process.execPath, '--input-type=module', '--eval', program);
  check('a second copy reports that a stream is not its own', printed.startsWith('expected a stream of this copy of rxmux'));
}

/** An ES module bundle has no `require`, which `ws` calls for modules of Node. The guide has both remedies. */
async function checkServerBundle(directory) {
  const contents = `import { connect, serve } from 'rxmux/node';
    const server = serve({ port: 0, host: '127.0.0.1', handler: ({ n }, stream) => stream.reply(n * 2) });
    const peer = connect('ws://127.0.0.1:' + (await server.listening).port);
    console.log(await peer.request({ n: 21 }));
    await peer.close(); await server.close();`;
  const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  for (const [remedy, options] of [
    ['a banner that makes require', { banner: { js: banner } }],
    ['ws outside', { external: ['ws'] }],
  ]) {
    const stdin = { contents, resolveDir: directory };
    await build({ absWorkingDir: directory, stdin, outfile: 'server.mjs', bundle: true, platform: 'node', format: 'esm', ...options });
    check(`esbuild bundles a server as an ES module with ${remedy}`, run(directory, process.execPath, 'server.mjs') === '42\n');
  }
}

/** A page that imports the door of Node fails with one sentence, under each bundler's way to say that it is a page. */
async function checkNodeDoorInPage(directory) {
  const contents = `import { connect, serve } from 'rxmux/node';
    for (const call of [connect, serve]) try { call('ws://127.0.0.1:9'); } catch ({ message }) { console.log(message); }`;
  const sentence = "rxmux/node works on Node only: use connect of 'rxmux' in a page\n";
  for (const [way, options] of [
    ['by its platform', { platform: 'browser' }],
    ['by a condition', { platform: 'neutral', conditions: ['browser'] }],
    ['as React Native', { platform: 'neutral', conditions: ['react-native'] }],
  ]) {
    const stdin = { contents, resolveDir: directory };
    await build({ absWorkingDir: directory, stdin, outfile: 'in-page.mjs', bundle: true, format: 'esm', ...options });
    check(`rxmux/node in a page says what to import, ${way}`, run(directory, process.execPath, 'in-page.mjs') === sentence.repeat(2));
  }
  const required = run(
    directory,
    process.execPath,
    '--conditions=browser',
    '--eval',
    "try { require('rxmux/node').connect(); } catch (error) { console.log(error.message); }",
  );
  check('rxmux/node in jsdom says what to import', required === sentence);
}

/** The objects of the package work as state of frameworks that wrap state in Proxies. */
function checkReactiveState() {
  const directory = project('reactive', 'reactive', 'module');
  const printed = run(directory, process.execPath, 'program.js').trim().split('\n');
  const expected = { isSame: true, answer: 42, streamed: [42], served: 42, decoded: [1], assembled: 1 };
  for (const line of printed) {
    const { wrapped, ...result } = JSON.parse(line);
    assert.deepEqual(result, expected, wrapped);
    check(`peers, streams, servers and codecs work as state of ${wrapped}`, true);
  }
  return directory;
}

/** The recipe for Vue: a ref that it reads opens another stream, and so does another socket. */
function checkComposable(directory) {
  const blocks = readFileSync(join(repository, 'docs/recipes.md'), 'utf8').match(/(?<=^```ts\n)[^]*?(?=^```$)/gm);
  const { code } = transformSync(
    blocks.find((block) => block.includes("from 'vue'")),
    { loader: 'ts' },
  );
  writeFileSync(join(directory, 'composable.js'), code);
  const printed = run(directory, process.execPath, 'composed.js').trim().split('\n');
  assert.deepEqual(printed, ['EUR on socket 1', 'CHF on socket 1', 'CHF on socket 2', 'no stream']);
  check('the composable for Vue follows its refs, outlives a socket and stops with its scope', true);
}

/** Serves with the packed package. The handler doubles a number. */
async function serveNumbers(directory, codec) {
  const { serve } = await importFrom(directory, 'rxmux/node');
  const handler = ({ n }, stream) => stream.reply(n * 2);
  const server = serve({ port: 0, host: '127.0.0.1', codec, handler });
  return {
    url: `ws://127.0.0.1:${(await server.listening).port}`,
    peers: server.peers,
    peers$: server.peers$,
    close: () => server.close(),
  };
}

/** Starts `vite dev` or `vite preview`. Returns the promise of its address, and a function that stops it. */
function startVite(directory, command) {
  const vite = spawn(process.execPath, ['node_modules/vite/bin/vite.js', command, '--port', '0', '--host', '127.0.0.1'], {
    cwd: directory,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = new Promise((resolve, reject) => {
    let printed = '';
    vite.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(printed);
      if (found) resolve(found[0]);
    });
    vite.once('exit', (code) => reject(new Error(`vite ${command} ended with ${code}:\n${printed}`)));
    setTimeout(() => reject(new Error(`vite ${command} printed no address in ${START_MS} ms:\n${printed}`)), START_MS).unref();
  });
  const stop = async () => {
    if (vite.exitCode !== null) return;
    vite.kill();
    await once(vite, 'exit');
  };
  return { address, stop };
}

async function checkPage(browser, directory, command, server) {
  const page = await browser.newPage();
  const vite = startVite(directory, command);
  try {
    await page.goto(`${await vite.address}?server=${encodeURIComponent(server.url)}`);
    const shown = await page.textContent('output');
    assert.equal(shown, '{"codec":"msgpack","codecs":["json","msgpack"],"overSocket":42,"inMemory":"hello pair"}');
    check(`vite ${command}: VITE_MUX_CODEC chooses the codec`, true);
    const button = page.getByRole('button', { name: 'Show the rxmux inspector' });
    if (command === 'preview') check('vite preview: the built page has no inspector', (await button.count()) === 0);
    else await checkInspector(page, button);
  } finally {
    await page.close();
    await vite.stop();
  }
}

/** The plugin watches the peers of the page, which is never changed for it. */
async function checkInspector(page, button) {
  await button.click();
  await page.locator('.names li', { hasText: '#1' }).first().click();
  const frames = page.locator('aside tbody tr');
  // The table fills in a later frame of the page.
  await frames.nth(1).waitFor();
  check('vite dev: the plugin shows the frames of a peer that the page has made', (await frames.count()) === 2);
}

/** Each hot update runs the module again, which makes another peer. The previous peer must be closed. */
async function checkHotUpdate(browser, directory, server) {
  const page = await browser.newPage();
  const vite = startVite(directory, 'dev');
  const connected = new Set();
  const counting = server.peers$.subscribe((peer) => connected.add(peer));
  const seesPeers = async (ever, now) => {
    const deadline = Date.now() + START_MS;
    while (connected.size !== ever || server.peers.size !== now) {
      assert.ok(Date.now() < deadline, `expected ${ever} peers, ${now} of them connected; got ${connected.size} and ${server.peers.size}`);
      await pause(20);
    }
  };
  try {
    await page.goto(`${await vite.address}hot.html?server=${encodeURIComponent(server.url)}`);
    await seesPeers(1, 1);
    appendFileSync(join(directory, 'hot.ts'), '// changed\n');
    await seesPeers(2, 1);
    check('vite dev: a hot update closes the peer of the previous module', true);
  } finally {
    counting.unsubscribe();
    await page.close();
    await vite.stop();
  }
}

async function checkVite(serverDirectory) {
  const directory = project('vite', 'vite', 'module');
  run(directory, process.execPath, tsc, '--project', '.');
  run(directory, process.execPath, 'node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn');
  const bundle = filesBelow(join(directory, 'dist'))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  check('the built bundle holds the chosen codec', bundle.includes('msgpack'));
  check('the built bundle holds nothing of the inspector', !bundle.includes('rxmux inspector'));
  check('the built bundle holds no other VITE_ variable', !/VITE_PRIVATE|stays-at-home/.test(bundle));

  const { MsgpackCodec } = await importFrom(serverDirectory, 'rxmux/msgpack');
  const server = await serveNumbers(serverDirectory, new MsgpackCodec());
  const browser = await launchChromium();
  try {
    await checkPage(browser, directory, 'dev', server);
    check('vite dev: the package was optimised', existsSync(join(directory, 'node_modules/.vite/deps/rxmux.js')));
    await checkPage(browser, directory, 'preview', server);
    await checkHotUpdate(browser, directory, server);
  } finally {
    await browser.close();
    await server.close();
  }
}

async function checkJsdom(serverDirectory) {
  const directory = project('jsdom', 'jsdom', 'commonjs');
  const server = await serveNumbers(serverDirectory);
  try {
    const env = { ...process.env, SERVER: server.url };
    await promisify(execFile)(process.execPath, ['node_modules/jest/bin/jest.js'], { cwd: directory, env });
    check('tests run in jsdom, which has no TextEncoder', true);
  } finally {
    await server.close();
  }
}

try {
  const esm = checkNodeProject('module');
  checkNoMaps(esm);
  checkCommand(esm);
  checkAlone(esm);
  checkClassNames(esm);
  checkTwoCopies(esm);
  await checkServerBundle(esm);
  await checkNodeDoorInPage(esm);
  await checkOldTarget(esm);
  const cjs = checkNodeProject('commonjs');
  checkCompilers(cjs);
  checkOldestPeers(cjs);
  checkOldestReact(cjs);
  checkStallingScheduler(cjs);
  checkTracing(cjs);
  await checkOneInstance(esm);
  await checkVite(esm);
  await checkJsdom(esm);
  checkComposable(checkReactiveState());
} finally {
  removeAll();
}
