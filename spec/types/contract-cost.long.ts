import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';
import { buildSync } from 'esbuild';
import ts from 'typescript';
import { REPOSITORY } from '../docs/markdown.js';

const PROCEDURES = 200;
const MOST_INSTANTIATIONS = 300_000;
const MOST_GZIP_BYTES = 1170;

const object = (id: string): string => `z.object({ ${id}: z.number(), name: z.string(), tags: z.array(z.string()), on: z.boolean() })`;
const reply = (nth: number): string => `({ r${nth}: payload.p${nth}, name: payload.name, tags: payload.tags, on: payload.on })`;

/** Each procedure has its own schemas of four fields. Of twenty, three are streams, uploads and channels. */
function declaration(nth: number): string {
  const payload = `payload: ${object(`p${nth}`)}`;
  const output = object(`r${nth}`);
  switch (nth % 20) {
    case 1:
      return `stream({ ${payload}, item: ${output} })`;
    case 2:
      return `upload({ ${payload}, input: z.string(), reply: ${output} })`;
    case 3:
      return `channel({ ${payload}, input: z.string(), item: ${output} })`;
    default:
      return `request({ ${payload}, reply: ${output} })`;
  }
}

const isStream = (nth: number): boolean => nth % 20 === 1 || nth % 20 === 3;
const hasInput = (nth: number): boolean => nth % 20 === 2 || nth % 20 === 3;

/** A program with a contract of 200 procedures, an answer to each, and a call of each. */
function largeProgram(): string {
  const all = Array.from({ length: PROCEDURES }, (_, nth) => nth);
  return [
    "import { of } from 'rxjs';",
    "import { answer, channel, client, contract, request, stream, upload } from 'rxmux/contract';",
    "import type { Peer } from 'rxmux';",
    "import { z } from 'zod';",
    'declare const peer: Peer;',
    `export const api = contract({ ${all.map((nth) => `c${nth}: ${declaration(nth)}`).join(',\n')} });`,
    'export const operator = answer(api, {',
    ...all.map((nth) => `c${nth}: (payload) => ${isStream(nth) ? `of(${reply(nth)})` : reply(nth)},`),
    '});',
    'const calls = client(peer, api);',
    ...all.map(
      (nth) =>
        `calls.c${nth}({ p${nth}: 1, name: 'a', tags: [], on: true }${hasInput(nth) ? ", ['a']" : ''}).subscribe(({ r${nth} }) => r${nth}.toFixed());`,
    ),
  ].join('\n');
}

/** The gzipped bytes of a page that calls a contract, without rxjs, and with the code of contracts or without it. */
function gzippedBytes(contractAt: string): number {
  const contents = `import { connect } from 'rxmux';
    import { client, contract, request, stream, upload, whenError } from 'rxmux/contract';
    const api = contract({ ask: request<number, number>(), feed: stream<void, number>(), store: upload<void, number, number>() });
    const calls = client(connect('ws://x'), api);
    calls.ask(1).pipe(whenError(api.ask, 'INVALID', () => [])).subscribe(console.log);
    calls.feed().subscribe(console.log);
    calls.store(undefined, [1]).subscribe(console.log);`;
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: REPOSITORY, loader: 'ts' },
    alias: { 'rxmux/contract': contractAt, rxmux: './src/index.ts' },
    external: ['rxjs', 'outside'],
    absWorkingDir: REPOSITORY,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  });
  return gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length;
}

it(`TypeScript checks a contract of ${PROCEDURES} procedures with ${MOST_INSTANTIATIONS} instantiations at most`, () => {
  const path = join(REPOSITORY, 'spec/types/large-contract.ts');
  const { config } = ts.readConfigFile(join(REPOSITORY, 'tsconfig.json'), (name) => ts.sys.readFile(name)) as {
    readonly config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, REPOSITORY);
  const disk = ts.createCompilerHost(options);
  const program = ts.createProgram([path], options, {
    ...disk,
    fileExists: (name) => name === path || disk.fileExists(name),
    getSourceFile: (name, language, ...rest) =>
      name === path ? ts.createSourceFile(name, largeProgram(), language) : disk.getSourceFile(name, language, ...rest),
  });
  const errors = program.getSemanticDiagnostics(program.getSourceFile(path));
  expect(errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([]);
  expect(program.getInstantiationCount()).toBeGreaterThan(PROCEDURES);
  expect(program.getInstantiationCount()).toBeLessThan(MOST_INSTANTIATIONS);
});

it(`The code of contracts adds ${MOST_GZIP_BYTES} bytes at most to a page`, () => {
  const added = gzippedBytes('./src/contract.ts') - gzippedBytes('outside');
  expect(added).toBeGreaterThan(0);
  expect(added).toBeLessThanOrEqual(MOST_GZIP_BYTES);
});
