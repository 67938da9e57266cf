import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { REPOSITORY } from '../docs/markdown.js';

const FILE = join(REPOSITORY, 'spec/types/hovered.ts');

/** A program. An empty comment stands before each name that the mouse points at. */
const PROGRAM = `import { of } from 'rxjs';
import type { Peer } from 'rxmux';
import { answer, client, contract, fail, request, stream, upload, whenError } from 'rxmux/contract';
import { z } from 'zod';
declare const peer: Peer;
export const /**/api = contract({
  square: request<{ n: number }, number>(),
  prices: stream<{ symbol: string }, number>(),
  store: upload<{ name: string }, string, number>(),
  book: request({ payload: z.object({ seat: z.string() }), reply: z.string(), errors: { TAKEN: z.object({ by: z.string() }) } }),
});
const /**/calls = client(peer, api);
export const /**/squared$ = calls./**/square({ n: 12 });
export const /**/price = calls./**/prices({ symbol: 'X' });
export const /**/stored = calls./**/store./**/promise({ name: 'a' }, ['b']);
export const /**/seat = calls./**/book.promise({ seat: '12A' });
export const operator = answer(api, {
  square: ({ /**/n }) => n,
  prices: (/**/payload, /**/call) => of(payload.symbol.length, call.name.length),
  store: (_, { /**/input }) => (input === null ? 0 : 1),
  book: ({ seat: /**/wanted }) => wanted,
});
export const error = fail(api.book, 'TAKEN', { by: 'ann' });
export const caught$ = calls.book({ seat: '1A' }).pipe(whenError(api.book, 'TAKEN', ({ /**/by }) => of(by)));
`;

const CONTRACT = `{
    square: RequestProcedure<{
        n: number;
    }, number, object>;
    prices: StreamProcedure<{
        symbol: string;
    }, number, object>;
    store: UploadProcedure<{
        name: string;
    }, string, number, object>;
    book: RequestProcedure<Checked<z.ZodObject<{
        seat: z.ZodString;
    }, z.core.$strip>>, Checked<z.ZodString>, {
        readonly TAKEN: Checked<z.ZodObject<{
            by: z.ZodString;
        }, z.core.$strip>>;
    }>;
}`;

const SHOWN = [
  `const api: ${CONTRACT}`,
  `const calls: Client<${CONTRACT}, false>`,
  'const squared$: Observable<number>',
  `(property) square: RequestCall
(payload: {
    n: number;
}, options?: OpenOptions<number, never> | undefined) => Observable<number>`,
  'const price: Observable<number>',
  `(property) prices: (payload: {
    symbol: string;
}, options?: OpenOptions<number, never> | undefined) => Observable<number>`,
  'const stored: Promise<number>',
  `(property) store: UploadCall<{
    name: string;
}, string, number>`,
  `(method) UploadCall<{ name: string; }, string, number>.promise(payload: {
    name: string;
}, input: Input<string>, options?: SendingOptions<number, string> | undefined): Promise<number>`,
  'const seat: Promise<string>',
  `(property) book: RequestCall<{
    seat: string;
}, string>`,
  '(parameter) n: number',
  `(parameter) payload: {
    symbol: string;
}`,
  '(parameter) call: Call<never, PeerContext, string>',
  '(parameter) input: Inputs<string>',
  '(parameter) wanted: string',
  '(parameter) by: string',
];

/** The texts that an editor shows, in the order of the marks. */
function hoverTexts(): string[] {
  const options = ts.readConfigFile(join(REPOSITORY, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config as {
    readonly compilerOptions: object;
  };
  const compilerOptions = ts.convertCompilerOptionsFromJson(options.compilerOptions, REPOSITORY).options;
  const service = ts.createLanguageService({
    getCompilationSettings: () => compilerOptions,
    getScriptFileNames: () => [FILE],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const text = path === FILE ? PROGRAM : ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => REPOSITORY,
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: (path) => path === FILE || ts.sys.fileExists(path),
    readFile: (path) => ts.sys.readFile(path),
    directoryExists: (path) => ts.sys.directoryExists(path),
  });
  return [...PROGRAM.matchAll(/\/\*\*\//g)].map(({ index }) => {
    const parts = service.getQuickInfoAtPosition(FILE, index + 4)?.displayParts;
    return ts.displayPartsToString(parts);
  });
}

it('An editor shows the types of a contract in the words of its author', () => {
  expect(hoverTexts()).toEqual(SHOWN);
});
