// Runs the server of another runtime with the packed package, and the rows of runtimes/rows.js against it: `npm run test:runtimes -- bun`.
// Without a name it runs all of them. Each run checks the column of its runtime in the table of docs/guide/runtimes.md;
// TABLES=write writes it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linesOf } from './example-server.js';
import { emptyFolder, importFrom, install, removeAll, repository, run, tarball } from './packed.js';
import { COLUMNS, writeColumn } from './runtimes/page.js';
import { LISTENS, programOf, workerd } from './runtimes/programs.js';
import { runRows } from './runtimes/rows.js';

const TSC = join(repository, 'node_modules/typescript/bin/tsc');
const PROGRAMS = { bun: 'bun.js', deno: 'deno.js', workerd: 'worker.js', crossws: 'h3.js' };
/** These types declare the names of the library `dom`, too. */
const LIBS = { workerd: ['--lib', 'es2022'] };
const PAGE = join(repository, 'docs/guide/runtimes.md');

/** Starts a program of each runtime, and checks its types against the runtime's. `types` names the package of these types. */
const RUNTIMES = {
  bun: { command: (program) => [programOf(directory, 'bun', '1.4'), program, '0'], types: 'bun-types@1.4' },
  deno: { command: (program) => [programOf(directory, 'deno', '2.9'), 'run', '--allow-net', program, '0'], types: '@types/deno@2' },
  workerd: {
    command: (program) => workerd(directory, program),
    says: LISTENS,
    types: '@cloudflare/workers-types@5',
  },
  crossws: { command: (program) => [process.execPath, program, '0'] },
};

const wanted = process.argv.slice(2);
for (const name of wanted) if (!(name in RUNTIMES)) throw new Error(`expected one of ${Object.keys(RUNTIMES).join(', ')}, got ${name}`);

const directory = emptyFolder('runtimes');
cpSync(join(import.meta.dirname, 'runtimes'), directory, { recursive: true });
writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
const { rxjs, '@msgpack/msgpack': msgpack } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).devDependencies;

/** Starts a server on a free port. Returns the port, and a function that ends the server. */
async function start({ command, says = 'listening' }, program) {
  const [file, ...args] = await command(program);
  // A group of its own: a launcher may have the server as its child.
  const server = spawn(file, args, { cwd: directory, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const end = () => {
    if (server.exitCode === null && server.signalCode === null) process.kill(-server.pid, 'SIGKILL');
  };
  process.once('exit', end);
  try {
    const line = await linesOf(server.stdout)(says);
    const stop = async () => {
      server.kill('SIGTERM');
      const [status] = await once(server, 'exit');
      return status;
    };
    return { port: Number(/\d{4,5}/.exec(line)[0]), end, stop };
  } catch (error) {
    end();
    throw error;
  }
}

/** Runs the program of the page: a call, an ordinary request, and its end at SIGTERM. */
async function checkExample(name, { connect }) {
  const [, first, text] = new RegExp(`\`\`\`js\\n// (${PROGRAMS[name]})\\n([^]*?)\`\`\``).exec(readFileSync(PAGE, 'utf8'));
  const program = `example-${first}`;
  writeFileSync(join(directory, program), text);
  const server = await start(RUNTIMES[name], program);
  const peer = connect(`ws://127.0.0.1:${server.port}/mux`);
  assert.deepEqual(await peer.request({ n: 1 }), { n: 1 });
  if (name !== 'workerd') {
    assert.equal(await (await fetch(`http://127.0.0.1:${server.port}/`)).text(), 'hello\n');
    const ended = server.stop();
    await peer.closed;
    assert.equal(await ended, 0);
  }
  await peer.close();
  server.end();
  console.log(`  ok  the program of the page, ${first}`);
  if (RUNTIMES[name].types === undefined) return;
  const types = RUNTIMES[name].types.replace(/^@types\/|(?<=.)@[\d.]+$/g, '');
  const options = [
    '--noEmit',
    '--allowJs',
    '--checkJs',
    '--skipLibCheck',
    '--noImplicitAny',
    'false',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--types',
    types,
  ];
  run(directory, process.execPath, TSC, ...options, ...(LIBS[name] ?? []), program);
  console.log(`  ok  its types, with ${RUNTIMES[name].types}`);
}

const names = wanted.length === 0 ? Object.keys(RUNTIMES) : wanted;
try {
  const types = names.flatMap((name) => RUNTIMES[name].types ?? []);
  install(directory, tarball, `rxjs@${rxjs}`, `@msgpack/msgpack@${msgpack}`, 'crossws@0.4.17', 'h3@2', ...types);
  const client = {
    ...(await importFrom(directory, 'rxmux')),
    ...(await importFrom(directory, 'rxmux/contract')),
    ...(await importFrom(directory, 'rxmux/msgpack')),
    ...(await importFrom(directory, 'rxmux/node')),
    ...(await import(join(directory, 'app.js'))),
  };
  for (const name of names) {
    console.log(`${name}:`);
    const server = await start(RUNTIMES[name], `${name}.js`);
    const began = performance.now();
    try {
      const column = await runRows(client, name, server.port, directory);
      const page = readFileSync(PAGE, 'utf8');
      const written = writeColumn(page, COLUMNS[name], column);
      if (process.env['TABLES'] === 'write') writeFileSync(PAGE, written);
      else if (written !== page) throw new Error(`docs/guide/runtimes.md differs from what ${name} does: TABLES=write writes its column`);
    } finally {
      server.end();
    }
    await checkExample(name, client);
    console.log(`  ${name}: ${Math.round((performance.now() - began) / 1_000)} s`);
  }
} finally {
  removeAll();
}
