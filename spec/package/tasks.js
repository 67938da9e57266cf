// The twelve tasks of a newcomer with the packed package, and a table of them. Each program has what its author writes from the README and
// the guide, with the default options, and asserts its outcome. Node 22.18 or later runs the TypeScript.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { PATIENCE_MS, startServer } from './example-server.js';
import { quickStart } from './quick-start.js';
import { project, removeAll, repository, run } from './packed.js';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const STRICT = '--noEmit --strict --module nodenext --target esnext --allowImportingTsExtensions --skipLibCheck --types node'.split(' ');

const directory = project('tasks', 'tasks', 'module');
for (const [name, text] of quickStart()) if (name !== 'client.ts') writeFileSync(join(directory, name), text);

/** Runs a program, which fails unless its outcome is the expected one. Returns what it prints. */
const program = (...args) => run(directory, process.execPath, ...args);

/** Runs the command of the package. Returns what it prints, errors too. */
function command(...args) {
  const { stdout, stderr } = spawnSync(join(directory, 'node_modules/.bin/rxmux'), args, { cwd: directory, encoding: 'utf8' });
  return stdout + stderr;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function accepts(port) {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

/** Runs a program of Debian while `use` runs, once it accepts connections. */
async function beside(command, args, port, use) {
  const child = spawn(command, args, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  try {
    const end = performance.now() + PATIENCE_MS;
    while (!(await accepts(port))) {
      assert.ok(child.exitCode === null && performance.now() < end, `expected ${command} to accept connections on port ${port}`);
      await pause(50);
    }
    return await use();
  } finally {
    child.kill();
    await exited;
  }
}

async function chat() {
  const port = await freePort();
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--dir', directory];
  await beside('redis-server', args, port, () => program('chat.ts', String(port)));
}

/** Puts nginx in front of the README's server, first without the two lines that forward an upgrade. */
async function behindNginx() {
  const server = await startServer(directory, 'server.ts');
  try {
    const guide = readFileSync(join(repository, 'docs/guide/proxies/nginx.conf'), 'utf8').replace(/\b8080\b/, server.port);
    for (const isWhole of [false, true]) {
      const port = await freePort();
      const folder = join(directory, `nginx-${port}`);
      mkdirSync(folder);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/temp;`).join(' ');
      const forwarding = isWhole ? guide : guide.replace(/.*(Upgrade|Connection|http_version).*\n/g, '');
      const http = `access_log off; ${paths} ${forwarding.replace(/\b8000\b/, `127.0.0.1:${port}`)}`;
      writeFileSync(join(folder, 'nginx.conf'), `daemon off; pid ${folder}/pid; error_log ${folder}/log; events { } http { ${http} }`);
      const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
      const printed = await beside('nginx', args, port, () => program('client.ts', `ws://127.0.0.1:${port}/`));
      if (isWhole) assert.equal(printed.trim(), '144');
      else
        assert.match(printed, /HTTP 426; a proxy on the way may not pass upgrades: it has to forward the headers Upgrade and Connection/);
    }
  } finally {
    await server.kill();
  }
}

function telemetry() {
  const printed = program('telemetry.ts');
  assert.equal(printed.match(/name: 'square'/g)?.length, 2);
  assert.match(printed, /'exception\.message': 'no negative numbers'/);
}

async function commands() {
  const server = await startServer(directory, 'server.ts');
  try {
    const url = `ws://localhost:${server.port}`;
    assert.equal(command('call', url, 'square', '{"n":12}'), '144\n');
    assert.equal(command('stream', '--take', '3', url, 'countdown', '{"from":10}'), '10\n9\n8\n');
    assert.match(command('call', url, 'sqare', '{"n":12}'), /no 'sqare'; did you mean 'square'\?/);
    assert.match(command('check', '--codec', 'json', url), /\n\d+ passed, 0 failed/);
  } finally {
    await server.kill();
  }
}

function types() {
  const programs = readdirSync(directory).filter((name) => name.endsWith('.ts'));
  program(tsc, ...STRICT, ...programs);
}

/** Each task, with its program or with the script that shows it from the packed package. */
const TASKS = [
  [0, "README's programs as printed", 'npm run test:newcomer'],
  [1, 'a live table, and a server that is killed', 'npm run test:frameworks'],
  ['2a', 'the same in React', 'npm run test:react'],
  ['2b', 'the same in Angular', 'npm run test:angular'],
  [3, 'an upload: progress and cancel', () => program('upload.ts')],
  [4, 'a chat over two servers and Redis', chat],
  [5, 'a cookie, a token, and its refresh', () => program('session.ts')],
  [6, 'a typed declared error', () => program('declared-error.ts')],
  [7, 'tests over fakePeer and createPair', () => program('--test', 'unit.test.ts')],
  [8, 'nginx', behindNginx],
  [9, 'OpenTelemetry on the console', telemetry],
  [10, 'a dead line after waking', () => program('sleep.ts')],
  [11, 'a token stream: cut, resumed, stopped', () => program('tokens.ts')],
  [12, 'npx rxmux', commands],
  ['', 'all programs type-check', types],
];

try {
  const rows = [];
  for (const [task, title, show] of TASKS) {
    const began = performance.now();
    if (typeof show === 'function') await show();
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    rows.push({ task, title, shown: typeof show === 'function' ? `${seconds} s` : `by ${show}` });
  }
  console.table(rows);
} finally {
  removeAll();
}
