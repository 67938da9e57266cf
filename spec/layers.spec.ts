import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** Maps a path below src/ to the file's text. */
type Sources = ReadonlyMap<string, string>;

const UP_TO_SESSION = ['wire', 'codec', 'rx', 'operators', 'session', 'transport', 'logger'];
const UP_TO_PEER = [...UP_TO_SESSION, 'peer', 'settings', 'version'];
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  env: [],
  logger: ['wire'],
  version: [],
  settings: ['env'],
  wire: ['wire'],
  codec: ['wire', 'codec', 'logger'],
  rx: ['wire', 'rx', 'logger'],
  operators: ['wire', 'codec', 'rx', 'operators', 'logger'],
  transport: ['wire', 'transport'],
  session: UP_TO_SESSION,
  peer: UP_TO_PEER,
  index: UP_TO_PEER,
  lean: UP_TO_PEER,
  msgpack: UP_TO_PEER,
  port: UP_TO_PEER,
  node: [...UP_TO_PEER, 'index', 'node'],
  testing: [...UP_TO_PEER, 'index', 'contract', 'inspect', 'testing'],
  contract: [...UP_TO_PEER, 'contract'],
  // The door registers json, because provideMux dials.
  angular: [...UP_TO_PEER, 'index', 'angular'],
  react: [...UP_TO_PEER, 'react'],
  topics: [...UP_TO_PEER, 'topics'],
  redis: [...UP_TO_PEER, 'topics', 'redis'],
  nats: [...UP_TO_PEER, 'topics', 'nats'],
  inspect: [...UP_TO_PEER, 'inspect'],
  otel: [...UP_TO_PEER, 'otel'],
  // It imports the doors by the name of the package, as any program does.
  command: ['command'],
};

/** The wings of the two large layers, each with the wings it may import; `.` is the files that lie in no wing. Types count too. */
const WINGS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  session: {
    base: ['base'],
    receive: ['base', 'receive'],
    send: ['base', 'send'],
    streams: ['base', 'receive', 'send', 'streams'],
    watch: ['base', 'receive', 'send', 'watch'],
    '.': ['base', 'receive', 'send', 'streams', 'watch', '.'],
  },
  peer: {
    base: ['base'],
    stream: ['base', 'stream'],
    answers: ['base', 'stream', 'answers'],
    core: ['base', 'stream', 'answers', 'core'],
    calls: ['base', 'stream', 'answers', 'core', 'calls'],
    dial: ['base', 'stream', 'answers', 'core', 'dial'],
    '.': ['base', 'stream', 'answers', 'core', 'calls', 'dial', '.'],
    operators: ['base', 'stream', 'answers', 'core', 'calls', 'dial', '.', 'operators'],
    lean: ['base', 'stream', 'answers', 'core', 'calls', 'dial', '.', 'lean'],
  },
};
/** Types of the public classes name each other: a hook has a stream, a stream its peer. */
const API: readonly string[] = ['peer/stream/stream.ts', 'peer/peer.ts', 'peer/peer-base.ts'];

const CLOCKS = /\b(setTimeout|setInterval|setImmediate|nextTick|performance\.now|Date\.now|AbortSignal\.timeout|queueMicrotask)\b/;
const CONFINED: readonly (readonly [what: string, pattern: RegExp, allowed: RegExp])[] = [
  ['ws', /'ws'/, /^((transport\/ws\/ws|node)\.ts$|command\/)/],
  ['@msgpack/msgpack', /'@msgpack\/msgpack'/, /^(codec\/msgpack(-decoder|-timestamps)?|command\/raw-codec)\.ts$/],
  ['import.meta', /\bimport\.meta\b/, /^env\.ts$/],
  ['@angular/core', /'@angular\/core(\/[^']*)?'/, /^angular\//],
  ['@opentelemetry/api', /'@opentelemetry\/[^']*'/, /^otel\//],
  ['react', /'react(-dom)?(\/[^']*)?'/, /^react\//],
  ['@nats-io', /'@nats-io\/[^']*'/, /^nats\//],
  ['redis', /'redis'/, /^redis\//],
  ['rxjs', /'rxjs(\/[^']*)?'/, /^(?!wire\/|codec\/|session\/streams\/stream-state\.ts$)/],
  ['a clock', CLOCKS, /^(transport\/|command\/|otel\/instruments\.ts$|rx\/(memory-clock|soon)\.ts$)/],
];

const STRING_OR_COMMENT = /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\/.*|\/\*[^]*?\*\//g;
const IMPORT = /\b(?:import|export)\s+(type\s)?(?:[^;'"]*?\sfrom\s+)?'(\.[^']+)\.js'|\bimport\(\s*'(\.[^']+)\.js'/g;

const withoutComments = (text: string) => text.replace(STRING_OR_COMMENT, (_, literal: string | undefined) => literal ?? '');
const layerOf = (path: string) => path.split(/[/.]/)[0] ?? '';
const wingOf = (path: string) => path.split('/').slice(1, -1)[0] ?? '.';

/** Whether an import stays within its layer, and runs against the order of the wings there. */
function climbsWings(from: string, to: string, isType: boolean): boolean {
  const wings = WINGS[layerOf(from)];
  if (wings === undefined || layerOf(to) !== layerOf(from) || (isType && API.includes(to))) return false;
  return wings[wingOf(from)]?.includes(wingOf(to)) !== true;
}

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
      else if (climbsWings(path, edge.path, edge.isType)) found.push(`between wings: ${path} → ${edge.path}`);
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
    expect(violations(sources)).toEqual([]);
  });

  it.each<readonly [reported: string, planted: Readonly<Record<string, string>>]>([
    ['upward: wire/a.ts → codec/b.ts', { 'wire/a.ts': "import type { B } from '../codec/b.js';" }],
    ['upward: operators/a.ts → session/b.ts', { 'operators/a.ts': "import {\n  b,\n} from '../session/b.js';" }],
    ['upward: session/a.ts → peer/operators/b.ts', { 'session/a.ts': "export { b } from '../peer/operators/b.js';" }],
    ['upward: rx/a.ts → operators/b.ts', { 'rx/a.ts': "import { b } from '../operators/b.js';" }],
    ['upward: rx/a.ts → transport/b.ts', { 'rx/a.ts': "import type { B } from '../transport/b.js';" }],
    ['upward: session/a.ts → settings.ts', { 'session/a.ts': "const { settings } = await import('../settings.js');" }],
    ['upward: transport/a.ts → session/b.ts', { 'transport/a.ts': "import '../session/b.js';" }],
    ['upward: wire/a.ts → logger.ts', { 'wire/a.ts': "import { logger } from '../logger.js';" }],
    ['upward: peer/a.ts → index.ts', { 'peer/a.ts': "import { b } from '../index.js';" }],
    ['upward: peer/a.ts → contract/b.ts', { 'peer/a.ts': "import { b } from '../contract/b.js';" }],
    ['upward: peer/a.ts → topics/b.ts', { 'peer/a.ts': "import { b } from '../topics/b.js';" }],
    ['upward: contract/a.ts → topics/b.ts', { 'contract/a.ts': "import { b } from '../topics/b.js';" }],
    ['upward: command/a.ts → node.ts', { 'command/a.ts': "import { serve } from '../node.js';" }],
    ['upward: topics/a.ts → nats/b.ts', { 'topics/a.ts': "import { b } from '../nats/b.js';" }],
    ['upward: index.ts → contract/a.ts', { 'index.ts': "export { contract } from './contract/a.js';" }],
    ['upward: lean.ts → index.ts', { 'lean.ts': "import './index.js';" }],
    ['upward: node/a.ts → testing/b.ts', { 'node/a.ts': "import { b } from '../testing/b.js';" }],
    ['upward: testing/a.ts → topics/b.ts', { 'testing/a.ts': "import { b } from '../topics/b.js';" }],
    ['upward: contract/a.ts → node.ts', { 'contract/a.ts': "import type { B } from '../node.js';" }],
    ['upward: elsewhere/a.ts → wire/b.ts', { 'elsewhere/a.ts': "import { b } from '../wire/b.js';" }],
    ['between wings: session/base/a.ts → session/send/b.ts', { 'session/base/a.ts': "import type { B } from '../send/b.js';" }],
    ['between wings: session/send/a.ts → session/receive/b.ts', { 'session/send/a.ts': "import { b } from '../receive/b.js';" }],
    ['between wings: session/watch/a.ts → session/session.ts', { 'session/watch/a.ts': "import type { S } from '../session.js';" }],
    ['between wings: peer/stream/a.ts → peer/core/b.ts', { 'peer/stream/a.ts': "import type { B } from '../core/b.js';" }],
    ['between wings: peer/base/a.ts → peer/stream/stream.ts', { 'peer/base/a.ts': "import { Stream } from '../stream/stream.js';" }],
    ['between wings: peer/elsewhere/a.ts → peer/base/b.ts', { 'peer/elsewhere/a.ts': "import { b } from '../base/b.js';" }],
    [
      'cycle: wire/a.ts → wire/b.ts → wire/a.ts',
      { 'wire/a.ts': "import { b } from './b.js';", 'wire/b.ts': "export { a } from './a.js';" },
    ],
    ['ws: peer/serve.ts', { 'peer/serve.ts': "import type { WebSocket } from 'ws';" }],
    ['@msgpack/msgpack: msgpack.ts', { 'msgpack.ts': "export { encode } from '@msgpack/msgpack';" }],
    ['import.meta: settings.ts', { 'settings.ts': 'export const env = import.meta.env;' }],
    ['rxjs: wire/a.ts', { 'wire/a.ts': "import type { Observable } from 'rxjs';" }],
    ['rxjs: session/streams/stream-state.ts', { 'session/streams/stream-state.ts': "import { map } from 'rxjs/operators';" }],
    ['a clock: session/a.ts', { 'session/a.ts': "const url = 'ws://host'; setTimeout(f, 1);" }],
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
    { 'peer/base/a.ts': "import type { Stream } from '../stream/stream.js';", 'peer/core/b.ts': "import type { Peer } from '../peer.js';" },
    { 'session/session.ts': "import { A } from './streams/a.js';", 'peer/dial/a.ts': "import { B } from '../stream/b.js';" },
    { 'session/a.ts': "// setTimeout(f)\n/* Date.now() and 'ws' */ const url = 'ws://host';" },
    { 'node.ts': "import { serve } from './peer/serve.js';\nimport './index.js';\nimport { WebSocketServer } from 'ws';" },
  ])('The layer check allows %j', (allowed) => {
    expect(violations(new Map(Object.entries(allowed)))).toEqual([]);
  });
});
