import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import '@angular/compiler';
import * as angular from '../../src/angular.js';
import * as bun from '../../src/bun.js';
import * as contract from '../../src/contract.js';
import * as crossws from '../../src/crossws.js';
import * as deno from '../../src/deno.js';
import * as index from '../../src/index.js';
import * as inspect from '../../src/inspect.js';
import * as inspector from '../../src/inspector.js';
import * as msgpack from '../../src/msgpack.js';
import * as rich from '../../src/rich.js';
import * as nats from '../../src/nats.js';
import * as ipc from '../../src/ipc.js';
import * as redis from '../../src/redis.js';
import * as node from '../../src/node.js';
import * as nodeInPage from '../../src/node-in-page.js';
import * as otel from '../../src/otel.js';
import * as port from '../../src/port.js';
import * as react from '../../src/react.js';
import * as session from '../../src/session.js';
import * as solid from '../../src/solid.js';
import * as svelte from '../../src/svelte.js';
import * as tanstack from '../../src/tanstack.js';
import * as testing from '../../src/testing.js';
import * as topics from '../../src/topics.js';
import * as uploads from '../../src/uploads.js';
import * as vite from '../../src/vite.js';
import * as vue from '../../src/vue.js';
import * as webSocketStream from '../../src/websocketstream.js';
import * as workerd from '../../src/workerd.js';
import { PUBLIC_NAMES } from './public-names.js';

interface Manifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly module: string;
  readonly alias: Readonly<Record<string, string>>;
}

const repository = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

/** The names in an entry point's `export type { … }` statements. */
function exportedTypes(door: string): string[] {
  const statements = read(`src/${door}.ts`).matchAll(/^export type \{([^}]*)\}/gm);
  return [...statements].flatMap(([, list = '']) => list.match(/\w+(?=\s*(?:,|$))/g) ?? []).sort();
}

/** Doors of servers alone: no page and no React Native has a use for them. */
const SERVERS: readonly string[] = ['ipc', 'bun', 'deno', 'workerd', 'crossws', 'vite'];

describe.each([
  { door: 'index', namespace: index, subpath: '.' },
  { door: 'node', namespace: node, subpath: './node' },
  { door: 'msgpack', namespace: msgpack, subpath: './msgpack' },
  { door: 'rich', namespace: rich, subpath: './rich' },
  { door: 'port', namespace: port, subpath: './port' },
  { door: 'websocketstream', namespace: webSocketStream, subpath: './websocketstream' },
  { door: 'session', namespace: session, subpath: './session' },
  { door: 'contract', namespace: contract, subpath: './contract' },
  { door: 'angular', namespace: angular, subpath: './angular' },
  { door: 'react', namespace: react, subpath: './react' },
  { door: 'vue', namespace: vue, subpath: './vue' },
  { door: 'svelte', namespace: svelte, subpath: './svelte' },
  { door: 'solid', namespace: solid, subpath: './solid' },
  { door: 'tanstack', namespace: tanstack, subpath: './tanstack' },
  { door: 'topics', namespace: topics, subpath: './topics' },
  { door: 'inspect', namespace: inspect, subpath: './inspect' },
  { door: 'inspector', namespace: inspector, subpath: './inspector' },
  { door: 'vite', namespace: vite, subpath: './vite' },
  { door: 'nats', namespace: nats, subpath: './nats' },
  { door: 'uploads', namespace: uploads, subpath: './uploads' },
  { door: 'ipc', namespace: ipc, subpath: './ipc' },
  { door: 'bun', namespace: bun, subpath: './bun' },
  { door: 'deno', namespace: deno, subpath: './deno' },
  { door: 'workerd', namespace: workerd, subpath: './workerd' },
  { door: 'crossws', namespace: crossws, subpath: './crossws' },
  { door: 'redis', namespace: redis, subpath: './redis' },
  { door: 'otel', namespace: otel, subpath: './otel' },
  { door: 'testing', namespace: testing, subpath: './testing' },
] as const)('the entry point $door', ({ door, namespace, subpath }) => {
  it(`The entry point ${door} exports its public names and no others`, () => {
    expect({ values: Object.keys(namespace).sort(), types: exportedTypes(door) }).toEqual(PUBLIC_NAMES[door]);
  });

  it(`The exports map has an entry for ${door} that leads every modern loader to the same file`, () => {
    const { exports } = JSON.parse(read('package.json')) as Manifest;
    const esm = { types: `./dist/esm/${door}.d.ts`, default: `./dist/esm/${door}.js` };
    const cjs = { types: `./dist/cjs/${door}.d.ts`, default: `./dist/cjs/${door}.js` };
    const [inPage, inModule] = ['cjs', 'esm'].map((format) => `./dist/${format}/node-in-page.js`);
    const elsewhere = {
      'react-native': { types: cjs.types, default: inPage },
      browser: { types: cjs.types, require: inPage, default: inModule },
    };
    const reactNative = SERVERS.includes(door) ? {} : { 'react-native': cjs };
    expect(JSON.stringify(exports[subpath])).toBe(
      JSON.stringify({
        ...(door === 'node' ? elsewhere : reactNative),
        'module-sync': esm,
        module: esm,
        import: esm,
        require: cjs,
      }),
    );
  });

  it('Tools that read no exports map find it', () => {
    const { module, alias } = JSON.parse(read('package.json')) as Manifest;
    expect(subpath === '.' ? module : alias[subpath]).toBe(`./dist/esm/${door}.js`);
  });
});

describe('rxmux/node in a page', () => {
  const { VERSION, ...functions } = nodeInPage;

  it('A page finds every value of rxmux/node, so that its bundler names none as missing', () => {
    expect(Object.keys(nodeInPage).sort()).toEqual(PUBLIC_NAMES.node.values);
    expect(VERSION).toBe(node.VERSION);
  });

  it.each(Object.entries(functions))('`%s` of rxmux/node throws one sentence in a page, which names the door to use', (_name, call) => {
    const sentence = new Error("rxmux/node works on Node only: use connect of 'rxmux' in a page");
    expect(() => call()).toThrow(sentence);
    expect(() => Reflect.construct(call, []) as unknown).toThrow(sentence);
  });
});

describe('the version', () => {
  it.each([
    ['rxmux', index.VERSION],
    ['rxmux/node', node.VERSION],
    ['rxmux/msgpack', msgpack.VERSION],
    ['rxmux/rich', rich.VERSION],
    ['rxmux/port', port.VERSION],
    ['rxmux/websocketstream', webSocketStream.VERSION],
    ['rxmux/session', session.VERSION],
    ['rxmux/contract', contract.VERSION],
    ['rxmux/angular', angular.VERSION],
    ['rxmux/react', react.VERSION],
    ['rxmux/vue', vue.VERSION],
    ['rxmux/svelte', svelte.VERSION],
    ['rxmux/solid', solid.VERSION],
    ['rxmux/tanstack', tanstack.VERSION],
    ['rxmux/topics', topics.VERSION],
    ['rxmux/uploads', uploads.VERSION],
    ['rxmux/ipc', ipc.VERSION],
    ['rxmux/bun', bun.VERSION],
    ['rxmux/deno', deno.VERSION],
    ['rxmux/workerd', workerd.VERSION],
    ['rxmux/crossws', crossws.VERSION],
    ['rxmux/redis', redis.VERSION],
    ['rxmux/nats', nats.VERSION],
    ['rxmux/inspect', inspect.VERSION],
    ['rxmux/inspector', inspector.VERSION],
    ['rxmux/vite', vite.VERSION],
    ['rxmux/otel', otel.VERSION],
  ])('The version of %s is the version in package.json', (_, version) => {
    expect(version).toBe((JSON.parse(read('package.json')) as Manifest).version);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
