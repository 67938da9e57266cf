import { expect, it } from '@jest/globals';
import { typeErrorsOf } from '../docs/type-check.js';

const HEAD = `import { answering, client, contract, isFailure, request, stream } from 'rxmux/contract';
import type { Payload, Reply } from 'rxmux/contract';
import type { Peer } from 'rxmux';
import { connect, serve } from 'rxmux/node';
import { memoryLog } from 'rxmux/topics';
import type { Log } from 'rxmux/topics';
import { z } from 'zod';
declare const peer: Peer;
declare const error: unknown;
const api = contract({
  square: request<{ n: number }, number>(),
  now: request<void, Date>(),
  say: request<string, void>(),
  prices: stream<{ symbol: string }, number>(),
  book: request({ payload: z.object({ seat: z.string() }), reply: z.string(), errors: { TAKEN: z.object({ by: z.string() }) } }),
});
const calls = client(peer, api);
const others = { now: () => new Date(), say: () => undefined, prices: () => [1], book: () => '' };
export { answering, calls, connect, isFailure, memoryLog, others, serve };
export type { Log, Payload, Reply };
`;

/** Programs with one mistake each, and the only error of TypeScript. */
const MISTAKES: Readonly<Record<string, readonly [program: string, says: RegExp]>> = {
  'the methods of a date from json': [
    'void calls.now.promise().then((at) => at.getTime());',
    /^Property 'getTime' does not exist on type 'string'\.$/,
  ],
  'a call that is awaited without `.promise`': [
    'export const four: number = await calls.square({ n: 2 });',
    /^Type 'Observable<number>' is not assignable to type 'number'\.$/,
  ],
  'a misspelt call': ['calls.sqaure({ n: 2 }).subscribe();', /^Property 'sqaure' does not exist .*\. Did you mean 'square'\?$/],
  'a payload to a `request<void>`': [
    'calls.now({ n: 1 }).subscribe();',
    /^Argument of type '\{ n: number; \}' is not assignable to parameter of type 'void'\.$/,
  ],
  'an answer that the contract lacks': [
    'answering(api, { ...others, square: () => 1, cube: () => 1 });',
    /^Object literal may only .*'cube' does not exist in type/,
  ],
  'a missing answer': ['answering(api, others);', /Property 'square' is missing in type/],
  'several missing answers': ['answering(api, { square: () => 1 });', /is missing the following properties .*: now, say, prices, book$/],
  'an answer that returns nothing': [
    'answering(api, { ...others, square: () => {} });',
    /Type 'void' is not assignable to type 'ReplyInput<number>'\.$/,
  ],
  'an answer that resolves with a cursor where none is declared': [
    'answering(api, { ...others, square: () => 1, say: (line) => memoryLog<string>().publish(line) });',
    /Type 'string' is not assignable to type 'void'\.$/,
  ],
  'an error in the first place of `isFailure`': [
    "isFailure(error, api.book, 'TAKEN');",
    /^Argument of type 'unknown' is not assignable to parameter of type 'Procedure<object>'\.$/,
  ],
  'the data of a declared error as `error.data`': [
    "if (isFailure(api.book, 'TAKEN', error)) console.log(error.data.by);",
    /^Property 'data' does not exist on type 'Failure<"TAKEN", \{ by: string; \}>'\.$/,
  ],
  'a misspelt option': [
    "connect('ws://x', { reconect: true });",
    /'reconect' does not exist in type .*\. Did you mean to write 'reconnect'\?$/,
  ],
  'a hello without `payload`': [
    "connect('ws://x', { hello: () => ({ token: 'x' }) });",
    /Type '\{ token: string; \}' is not assignable to type 'Hello \| Promise<Hello>'\.$/,
  ],
};

/** Programs of newcomers that TypeScript once refused. */
const RIGHT: Readonly<Record<string, string>> = {
  'a log without the type of its cursors': 'export let log: Log<string>;',
  'the port of a server': 'export const port: number = (await serve({ port: 0 }).listening).port;',
  'the types of a procedure':
    'export const payload: Payload<typeof api.square> = { n: 1 }; export const reply: Reply<typeof api.square> = payload.n;',
};

const programs = [...Object.entries(MISTAKES).map(([title, [text]]) => [title, text] as const), ...Object.entries(RIGHT)];
const errors = typeErrorsOf(programs.map(([title, text]) => ({ title, program: `${HEAD}${text}\n` })));
const line = HEAD.split('\n').length - 1;

const found = new Map(programs.map(([title], nth) => [title, errors[nth] ?? []]));

it.each(Object.entries(MISTAKES).map(([title, [, says]]) => ({ title, says })))(
  'TypeScript says what is wrong with $title',
  ({ title, says }) => {
    const head = `line ${line}: `;
    expect(found.get(title)).toEqual([expect.stringMatching(new RegExp(says.source.replace('^', `^${head}`)))]);
  },
);

it.each(Object.keys(RIGHT))('TypeScript accepts %s', (title) => {
  expect(found.get(title)).toEqual([]);
});
