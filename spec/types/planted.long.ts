import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import type { OnLoadResult } from 'esbuild';
import ts from 'typescript';
import { REPOSITORY } from '../docs/markdown.js';
import { placesWithout } from '../support/wire/field-places.js';
import type { FieldModules } from '../support/wire/field-places.js';

const FILES = [
  ...['frame', 'mapping', 'outgoing', 'fragment'].map((name) => `wire/${name}`),
  ...['json', 'msgpack'].map((name) => `codec/${name}`),
];

/** Below node_modules, so that the copies find their imports. */
const BUILT = join(REPOSITORY, 'node_modules/.cache/rxmux-fields');

/** The places that spell the fields out. Those which read the table know a new field at once. */
const SPELT_OUT = [
  'completeFrame',
  'payloadFrame',
  'fromMapping',
  'OutgoingFrame',
  'splitFrame',
  'JsonCodec',
  'MsgpackCodec beside a payload',
];

/** Loads a copy of the library whose table has a thirteenth field. */
async function libraryWith(kind: string): Promise<FieldModules> {
  const path = join(BUILT, `${kind}.cjs`);
  await build({
    stdin: { contents: FILES.map((file) => `export * from './src/${file}.js';`).join(''), resolveDir: REPOSITORY },
    outfile: path,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    plugins: [
      {
        name: 'one field more',
        setup: (bundler) => {
          bundler.onLoad({ filter: /\/wire\/frame\.ts$/ }, ({ path: fields }) => planted(fields, kind));
        },
      },
    ],
  });
  return (await import(path)) as FieldModules;
}

function planted(path: string, kind: string): OnLoadResult {
  return {
    contents: readFileSync(path, 'utf8').replace('} satisfies Record<keyof Frame', `urgency: field('urgency', ${kind}), $&`),
    loader: 'ts',
  };
}

/** Replaces texts in the sources, by file. */
type Plants = Readonly<Record<string, readonly (readonly [text: string, by: string])[]>>;

/** The files of the sources in which the compiler finds an error once these texts are replaced. */
function filesBlamed(plants: Plants): string[] {
  const { config } = ts.readConfigFile(join(REPOSITORY, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, REPOSITORY);
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    getSourceFile: (path, language, ...rest) => {
      const found = plants[relative(join(REPOSITORY, 'src'), path)];
      if (found === undefined) return disk.getSourceFile(path, language, ...rest);
      const text = found.reduce((before, [from, to]) => before.replace(from, to), readFileSync(path, 'utf8'));
      return ts.createSourceFile(path, text, language);
    },
  };
  const doors = ['index', 'node', 'msgpack', 'testing'].map((door) => join(REPOSITORY, `src/${door}.ts`));
  const program = ts.createProgram(doors, options, host);
  const files = program.getSemanticDiagnostics().map(({ file }) => relative(join(REPOSITORY, 'src'), file?.fileName ?? ''));
  return [...new Set(files)].sort();
}

describe('a thirteenth field', () => {
  it.each([
    ['TEXT', ['envelopeBound']],
    ['METADATA', ['envelopeBound']],
    ['FLAG', []],
    ['ID', []],
  ])('A thirteenth field of kind %s is found missing where fields are spelt out, and nowhere else', async (kind, bounds) => {
    expect(placesWithout('urgency', await libraryWith(kind)).sort()).toEqual([...SPELT_OUT, ...bounds].sort());
  });
});

// One program has the field and a type of each scope, as checking the sources takes seconds.
it('The compiler reports each place that misses a thirteenth field or a seventh type', () => {
  const field = 'readonly urgency?: string | null | undefined;';
  const row = (type: string, scope: string): string => `${type}: { scope: '${scope}', lane: 'turn', isReasoned: false },`;
  const blamed = filesBlamed({
    'wire/frame.ts': [
      ['export interface Frame {', `$& ${field}`],
      ["export type FrameType = 'open'", "$& | 'upward' | 'sideways'"],
      ['export const FRAME_TYPES = {', `$& ${row('upward', 'stream')} ${row('sideways', 'connection')}`],
    ],
  });
  const ofFields = ['fragment', 'frame', 'mapping', 'outgoing'].map((name) => `wire/${name}.ts`);
  const ofTypes = ['connection/control.ts', 'connection/inbound.ts', 'stream/stream-core.ts'];
  expect(blamed).toEqual([...ofFields, ...ofTypes, 'testing/frames.ts'].sort());
});
