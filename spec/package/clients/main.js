// `npm run test:clients`: sockets of other runtimes and libraries dial a server of the packed package. Each opens with the subprotocol, calls,
// streams, uploads 1 MiB, cancels, closes, and sees a refusal. The table of docs/guide/frameworks.md has the outcomes: `TABLES=write` writes it.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers';
import { promisify } from 'node:util';
import { lap } from '../lap.js';
import { linesOf } from '../example-server.js';
import { check, emptyFolder, importFrom, install, removeAll, repository, tarball } from '../packed.js';
import { LISTENS, WORKERD, workerd } from '../runtimes/programs.js';

const LIBRARIES = { undici: '8.12.4', websocket: '1.0.35', 'faye-websocket': '0.11.4', partysocket: '1.3.0' };
const MOST_MS = 120_000;
const PAGE = join(repository, 'docs/guide/frameworks.md');
const PLACE = /(?<=<!-- clients -->\n\n)[^]*(?=\n<!-- end of clients -->)/;

const node = (version) => ['--package', `node@${version}`, '--', 'node'];
const deno = (...flags) => ['--package', 'deno@2.9', '--', 'deno', 'run', '--allow-all', ...flags];
const [NODE, BUN, DENO] = [node(24), ['--package', 'bun@1.4', '--', 'bun'], deno()];

/** Each dialer: the words of the table, the runtime, and the socket that `client.mjs` makes. workerd runs `worker.js`. */
const CLIENTS = [
  ['Node 22, its `WebSocket`', node(22), 'global'],
  ['Node 24, its `WebSocket`', NODE, 'global'],
  ['Node 26, its `WebSocket`', node(26), 'global'],
  ['Bun 1.4, its `WebSocket`', BUN, 'global'],
  ['Deno 2.9, its `WebSocket`', DENO, 'global'],
  ['Deno 2.9 with `--unstable-net`, `webSocketStream()`', deno('--unstable-net'), 'webSocketStream'],
  [`workerd ${WORKERD}, its \`WebSocket\``, null, 'global'],
  ...Object.entries(LIBRARIES).map(([name, version]) => [`\`${name}\` ${version}`, NODE, name]),
];

const directory = emptyFolder('clients');
writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'clients', type: 'module' }));
install(directory, tarball, 'rxjs@7', ...Object.entries(LIBRARIES).map(([name, version]) => `${name}@${version}`));
cpSync(import.meta.dirname, directory, { recursive: true });

const { serve } = await importFrom(directory, 'rxmux/node');
let cause;
const ends = [];
const answers = {
  echo: ({ value }, stream) => stream.reply(value),
  count: (_ask, stream) => stream.sendAll(Array.from({ length: 1_000 }, (_, n) => n)),
  size: async (_ask, stream) => {
    let size = 0;
    for await (const piece of stream) size += piece.length;
    await stream.reply(size);
  },
  ticks: async (_ask, stream) => {
    cause = stream.closed;
    for (let n = 0; !stream.signal.aborted; n++) {
      await stream.send(n);
      await new Promise(setImmediate);
    }
  },
  cause: async (_ask, stream) => stream.reply(await cause),
  leave: (_ask, stream) => void stream.peer.close({ reason: 'moving' }),
};
const mux = serve({
  host: '127.0.0.1',
  port: 0,
  verify: ({ url }) => (url === '/refused' ? 401 : {}),
  handler: (ask, stream) => answers[ask.op](ask, stream),
});
mux.peers$.subscribe((peer) => peer.onClose((reason) => ends.push(reason)));
const { port } = await mux.listening;

/** Runs one client, and returns its outcomes. */
async function outcomesOf(runtime, socket) {
  ends.length = 0;
  const url = `ws://127.0.0.1:${port}`;
  const printed = runtime === null ? await ofWorkerd(url) : await ofProgram(['--yes', ...runtime, 'client.mjs', socket, url]);
  return JSON.parse(printed.replaceAll(`:${port}/`, ':8080/'));
}

async function ofProgram(args) {
  const { stdout } = await promisify(execFile)('npx', args, { cwd: directory, timeout: MOST_MS });
  return stdout.trim().split('\n').at(-1);
}

async function ofWorkerd(url) {
  const [file, ...args] = await workerd(directory, 'worker.js');
  const server = spawn(file, args, { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const { port: own } = JSON.parse(await linesOf(server.stdout)(LISTENS));
    return await (await fetch(`http://127.0.0.1:${own}/?server=${url}`)).text();
  } finally {
    server.kill('SIGKILL');
  }
}

const shown = ({ code, reason, wasClean }) => `${code} "${reason}"${wasClean ? '' : ', not clean'}`;

const rows = [];
for (const [title, runtime, socket] of CLIENTS) {
  await lap(title, async () => {
    const { closed, left, refused, ...calls } = await outcomesOf(runtime, socket);
    assert.deepEqual(
      { ...calls, cause: { how: calls.cause.how, code: calls.cause.code } },
      { echo: 'é😀', count: 1_000, uploaded: 1024 * 1024, first: [0, 1, 2], cause: { how: 'reset', code: 8 } },
    );
    assert.deepEqual({ code: ends[0]?.code, reason: ends[0]?.reason }, { code: 1000, reason: 'that is all' });
    assert.equal(refused.code, 'CONNECT');
    const said = /\(([^)]*)\)/.exec(refused.message)?.[1] ?? `HTTP ${refused.status}`;
    rows.push([title, 'yes', shown(closed), shown(left), `\`${said}\``]);
  });
}
const heads = ['client', 'opens, calls, streams, uploads, cancels', 'its own close', "the server's close", 'a refusal by 401 reads'];
const table = `${[heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;

await mux.close();
removeAll();
const page = readFileSync(PAGE, 'utf8');
if (process.env.TABLES === 'write')
  writeFileSync(
    PAGE,
    page.replace(PLACE, () => table),
  );
else assert.equal(PLACE.exec(page)?.[0], table, 'docs/guide/frameworks.md: TABLES=write npm run test:clients writes the table');
check(`the table of docs/guide/frameworks.md has the outcomes of ${rows.length} clients`, rows.length === CLIENTS.length);
process.exit();
