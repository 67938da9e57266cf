import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** Maps a path below src/ to the file's text. */
type Sources = ReadonlyMap<string, string>;

const UP_TO_STREAM = ['util', 'wire', 'codec', 'rx', 'operators', 'transport', 'stream', 'logger'];
const UP_TO_CONNECTION = [...UP_TO_STREAM, 'connection'];
const UP_TO_PEER = [...UP_TO_CONNECTION, 'peer', 'settings', 'version'];
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  env: [],
  logger: ['util', 'wire'],
  version: [],
  settings: ['env'],
  util: ['util'],
  wire: ['util', 'wire'],
  codec: ['util', 'wire', 'codec', 'logger'],
  rx: ['util', 'wire', 'rx', 'logger'],
  operators: ['util', 'wire', 'codec', 'rx', 'operators', 'logger'],
  transport: ['util', 'wire', 'transport'],
  stream: UP_TO_STREAM,
  connection: UP_TO_CONNECTION,
  peer: UP_TO_PEER,
  index: UP_TO_PEER,
  msgpack: UP_TO_PEER,
  rich: UP_TO_PEER,
  port: UP_TO_PEER,
  websocketstream: [...UP_TO_PEER, 'index'],
  session: UP_TO_PEER,
  // The servers of all runtimes share it.
  acceptor: [...UP_TO_PEER, 'acceptor'],
  node: [...UP_TO_PEER, 'index', 'acceptor', 'node'],
  runtimes: [...UP_TO_PEER, 'acceptor', 'runtimes'],
  bun: [...UP_TO_PEER, 'index', 'acceptor', 'runtimes'],
  deno: [...UP_TO_PEER, 'index', 'acceptor', 'runtimes'],
  workerd: [...UP_TO_PEER, 'index', 'acceptor', 'runtimes'],
  crossws: [...UP_TO_PEER, 'index', 'acceptor', 'runtimes'],
  'node-in-page': ['version'],
  testing: [...UP_TO_PEER, 'index', 'contract', 'inspect', 'testing'],
  contract: [...UP_TO_PEER, 'contract'],
  // The door registers json, because provideMux dials.
  angular: [...UP_TO_PEER, 'index', 'contract', 'store', 'angular'],
  // One stream or call of a component, for the doors of frameworks.
  store: [...UP_TO_PEER, 'contract', 'store'],
  react: [...UP_TO_PEER, 'contract', 'store', 'react'],
  vue: [...UP_TO_PEER, 'contract', 'store'],
  svelte: [...UP_TO_PEER, 'contract', 'store'],
  solid: [...UP_TO_PEER, 'contract', 'store'],
  tanstack: [...UP_TO_PEER, 'contract'],
  topics: [...UP_TO_PEER, 'topics'],
  uploads: [...UP_TO_PEER, 'topics', 'uploads'],
  ipc: [...UP_TO_PEER, 'topics', 'ipc'],
  redis: [...UP_TO_PEER, 'topics', 'redis'],
  nats: [...UP_TO_PEER, 'topics', 'nats'],
  inspect: [...UP_TO_PEER, 'inspect'],
  // The page in a panel of the user's page.
  inspector: [...UP_TO_PEER, 'inspect', 'inspector'],
  vite: ['util', 'version', 'vite'],
  otel: [...UP_TO_PEER, 'contract', 'otel'],
  // It imports the doors by the name of the package, as any program does. Its bundle has its own copy of what it takes of `util`.
  command: ['util', 'command'],
};

/** Imports that run up: a public `Stream` has its `Peer`. */
const CLIMBS: readonly string[] = ['stream/stream.ts → peer/peer.ts'];

const CLOCKS = /\b(setTimeout|setInterval|setImmediate|nextTick|performance\.now|Date\.now|AbortSignal\.timeout|queueMicrotask)\b/;
const CONFINED: readonly (readonly [what: string, pattern: RegExp, allowed: RegExp])[] = [
  ['ws', /'ws'/, /^((transport\/ws\/ws|node)\.ts$|command\/)/],
  ['@msgpack/msgpack', /'@msgpack\/msgpack'/, /^(codec\/msgpack|command\/raw-codec)\.ts$/],
  // The texts of new projects are programs of their own.
  ['import.meta', /\bimport\.meta\b/, /^(env|command\/create\/files)\.ts$/],
  ['@angular/core', /'@angular\/core(\/[^']*)?'/, /^(angular\/|command\/create\/)/],
  ['@opentelemetry/api', /'@opentelemetry\/[^']*'/, /^otel\//],
  ['react', /'react(-dom)?(\/[^']*)?'/, /^(react\/|command\/create\/)/],
  ['vue', /'vue'/, /^(vue\.ts$|command\/create\/)/],
  ['svelte', /'svelte(\/[^']*)?'/, /^svelte\.ts$/],
  ['solid-js', /'solid-js(\/[^']*)?'/, /^solid\.ts$/],
  ['@tanstack', /'@tanstack\/[^']*'/, /^tanstack\.ts$/],
  ['@nats-io', /'@nats-io\/[^']*'/, /^nats\//],
  ['redis', /'redis'/, /^redis\//],
  ['node:cluster', /'node:cluster'/, /^ipc\//],
  ['node', /'node:[^']*'/, /^(?!acceptor\/|runtimes\/|(bun|deno|workerd|crossws)\.ts$)/],
  ['rxjs', /'rxjs(\/[^']*)?'/, /^(?!util\/(?!time\.ts$)|wire\/|codec\/|stream\/state\.ts$)/],
  ['a clock', CLOCKS, /^(transport\/|command\/|otel\/instruments\.ts$|util\/time\.ts$|testing\/memory-clock\.ts$|rx\/soon\.ts$)/],
];

const STRING_OR_COMMENT = /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\/.*|\/\*[^]*?\*\//g;
const IMPORT = /\b(?:import|export)\s+(type\s)?(?:[^;'"]*?\sfrom\s+)?'(\.[^']+)\.js'|\bimport\(\s*'(\.[^']+)\.js'/g;

const withoutComments = (text: string) => text.replace(STRING_OR_COMMENT, (_, literal: string | undefined) => literal ?? '');
const layerOf = (path: string) => path.split(/[/.]/)[0] ?? '';

function importsOf(path: string, text: string) {
  return [...withoutComments(text).matchAll(IMPORT)].map(([, type, from = '', dynamic = from]) => ({
    path: `${posix.join(dirname(path), dynamic)}.ts`,
    isType: type !== undefined,
  }));
}

/**
 * Reports each import against the direction of the layers, each cycle of value imports, and each module outside its allowed
 * files.
 */
function violations(sources: Sources): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`);
    if (done.has(path)) return;
    done.add(path);
    for (const edge of importsOf(path, sources.get(path) ?? '')) if (!edge.isType) visit(edge.path, [...trail, path]);
  };
  for (const [path, text] of sources) {
    const code = withoutComments(text);
    const allowed = MAY_IMPORT[layerOf(path)] ?? [];
    for (const edge of importsOf(path, text)) {
      if (!allowed.includes(layerOf(edge.path))) found.push(`upward: ${path} → ${edge.path}`);
    }
    for (const [what, pattern, where] of CONFINED) if (pattern.test(code) && !where.test(path)) found.push(`${what}: ${path}`);
    visit(path, []);
  }
  return found;
}

describe('the layer check', () => {
  const root = join(__dirname, '../src');
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const sources = new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(root, path), 'utf8')]));

  it('The layer check reports no violation in src', () => {
    expect(paths).toContain('index.ts');
    const reported = [...new Set(violations(sources))].sort();
    expect(reported).toEqual(CLIMBS.map((climb) => `upward: ${climb}`));
  });

  it.each<readonly [reported: string, planted: Readonly<Record<string, string>>]>([
    ['upward: wire/a.ts → codec/b.ts', { 'wire/a.ts': "import type { B } from '../codec/b.js';" }],
    ['upward: operators/a.ts → stream/b.ts', { 'operators/a.ts': "import {\n  b,\n} from '../stream/b.js';" }],
    ['upward: connection/a.ts → peer/operators/b.ts', { 'connection/a.ts': "export { b } from '../peer/operators/b.js';" }],
    ['upward: rx/a.ts → operators/b.ts', { 'rx/a.ts': "import { b } from '../operators/b.js';" }],
    ['upward: rx/a.ts → transport/b.ts', { 'rx/a.ts': "import type { B } from '../transport/b.js';" }],
    ['upward: stream/a.ts → connection/b.ts', { 'stream/a.ts': "import { b } from '../connection/b.js';" }],
    ['upward: util/a.ts → wire/b.ts', { 'util/a.ts': "import { b } from '../wire/b.js';" }],
    ['upward: connection/a.ts → settings.ts', { 'connection/a.ts': "const { settings } = await import('../settings.js');" }],
    ['upward: transport/a.ts → connection/b.ts', { 'transport/a.ts': "import '../connection/b.js';" }],
    ['upward: wire/a.ts → logger.ts', { 'wire/a.ts': "import { logger } from '../logger.js';" }],
    ['upward: peer/a.ts → index.ts', { 'peer/a.ts': "import { b } from '../index.js';" }],
    ['upward: peer/a.ts → contract/b.ts', { 'peer/a.ts': "import { b } from '../contract/b.js';" }],
    ['upward: peer/a.ts → topics/b.ts', { 'peer/a.ts': "import { b } from '../topics/b.js';" }],
    ['upward: contract/a.ts → topics/b.ts', { 'contract/a.ts': "import { b } from '../topics/b.js';" }],
    ['upward: command/a.ts → node.ts', { 'command/a.ts': "import { serve } from '../node.js';" }],
    ['upward: topics/a.ts → nats/b.ts', { 'topics/a.ts': "import { b } from '../nats/b.js';" }],
    ['upward: index.ts → contract/a.ts', { 'index.ts': "export { contract } from './contract/a.js';" }],
    ['upward: node/a.ts → testing/b.ts', { 'node/a.ts': "import { b } from '../testing/b.js';" }],
    ['upward: testing/a.ts → topics/b.ts', { 'testing/a.ts': "import { b } from '../topics/b.js';" }],
    ['upward: contract/a.ts → node.ts', { 'contract/a.ts': "import type { B } from '../node.js';" }],
    ['upward: elsewhere/a.ts → wire/b.ts', { 'elsewhere/a.ts': "import { b } from '../wire/b.js';" }],
    [
      'cycle: wire/a.ts → wire/b.ts → wire/a.ts',
      { 'wire/a.ts': "import { b } from './b.js';", 'wire/b.ts': "export { a } from './a.js';" },
    ],
    ['ws: peer/serve.ts', { 'peer/serve.ts': "import type { WebSocket } from 'ws';" }],
    ['@msgpack/msgpack: msgpack.ts', { 'msgpack.ts': "export { encode } from '@msgpack/msgpack';" }],
    ['import.meta: settings.ts', { 'settings.ts': 'export const env = import.meta.env;' }],
    ['rxjs: wire/a.ts', { 'wire/a.ts': "import type { Observable } from 'rxjs';" }],
    ['rxjs: stream/state.ts', { 'stream/state.ts': "import { map } from 'rxjs/operators';" }],
    ['a clock: connection/a.ts', { 'connection/a.ts': "const url = 'ws://host'; setTimeout(f, 1);" }],
  ])('The layer check reports %s', (reported, planted) => {
    expect(violations(new Map(Object.entries(planted)))).toEqual([reported]);
  });

  it.each([
    'setTimeout(f, 1)',
    'setInterval(f, 1)',
    'setImmediate(f)',
    'process.nextTick(f)',
    'queueMicrotask(f)',
    'performance.now()',
    'Date.now()',
    'AbortSignal.timeout(1)',
  ])('The layer check reports %s as a clock', (code) => {
    expect(violations(new Map([['peer/a.ts', `const taken = ${code};`]]))).toEqual(['a clock: peer/a.ts']);
  });

  it.each<Readonly<Record<string, string>>>([
    { 'wire/a.ts': "import type { B } from './b.js';", 'wire/b.ts': "import { a } from './a.js';" },
    { 'transport/a.ts': 'setTimeout(f, 1);' },
    { 'connection/a.ts': "import { B } from '../stream/b.js';", 'peer/dial/a.ts': "import { B } from '../core.js';" },
    { 'connection/a.ts': "// setTimeout(f)\n/* Date.now() and 'ws' */ const url = 'ws://host';" },
    { 'node.ts': "import { serve } from './peer/serve.js';\nimport './index.js';\nimport { WebSocketServer } from 'ws';" },
  ])('The layer check allows %j', (allowed) => {
    expect(violations(new Map(Object.entries(allowed)))).toEqual([]);
  });
});
