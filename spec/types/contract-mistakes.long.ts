import { expect, it } from '@jest/globals';
import { typeErrorsOf } from '../docs/type-check.js';

const HEAD = `import { of } from 'rxjs';
import type { Peer } from 'rxmux';
import { answer, client, contract, fail, request, stream, upload, whenError } from 'rxmux/contract';
import { fakePeer } from 'rxmux/testing';
import type { RunHelpers } from 'rxjs/testing';
import { z } from 'zod';
declare const peer: Peer;
declare const helpers: RunHelpers;
const api = contract({
  square: request<{ n: number }, number>(),
  prices: stream<{ symbol: string }, number>(),
  store: upload<{ name: string }, string, number>(),
  book: request({ payload: z.object({ seat: z.string() }), reply: z.string(), errors: { TAKEN: z.object({ by: z.string() }) } }),
});
const calls = client(peer, api);
export { of, answer, fail, whenError, fakePeer, helpers, calls };
`;

/** Programs with one mistake each, on the line that begins with `!`. */
const MISTAKES: Readonly<Record<string, string>> = {
  'a call of an unknown name': `
! calls.sqaure({ n: 12 }).subscribe();`,
  'a payload of another type': `
calls.square({
!   n: '12',
}).subscribe();`,
  'a payload that does not fit its schema': `
! calls.book({ seta: '12A' }).subscribe();`,
  'a reply used as another type': `
! const text: Promise<string> = calls.square.promise({ n: 12 });`,
  'an input of another type': `
! calls.store({ name: 'a' }, of(1, 2)).subscribe();`,
  'an upload without its input': `
! calls.store({ name: 'a' }).subscribe();`,
  'an answer of another type': `
answer(api, {
!   square: ({ n }) => String(n),
  prices: () => of(1),
  store: () => 1,
  book: ({ seat }) => seat,
});`,
  'an answer that reads a field the payload does not have': `
answer(api, {
  square: ({ n }) => n,
!   prices: ({ symbl }) => of(symbl),
  store: () => 1,
  book: ({ seat }) => seat,
});`,
  'a missing answer': `
! answer(api, {
  square: ({ n }) => n,
  prices: () => of(1),
  store: () => 1,
});`,
  'an answer to an unknown name': `
answer(api, {
  square: ({ n }) => n,
  prices: () => of(1),
  store: () => 1,
  book: ({ seat }) => seat,
!   sqaure: () => 1,
});`,
  'an undeclared error': `
! fail(api.book, 'TAKNE', { by: 'ann' });`,
  'an error with other data': `
! fail(api.book, 'TAKEN', { bye: 'ann' });`,
  'a read of data that the error does not have': `
! calls.book({ seat: '1A' }).pipe(whenError(api.book, 'TAKEN', ({ bye }) => of(bye))).subscribe();`,
  'a name that another function compares with an unknown one': `
answer(
  api,
  { square: ({ n }) => n, prices: () => of(1), store: () => 1, book: ({ seat }) => seat },
!   { around: ({ name }, next) => (name === 'sqaure' ? next() : next()) },
);`,
  'a row of marbles for an unknown name': `
! fakePeer(helpers, api, {
  square: '--a|',
  pirces: '--a|',
});`,
  'a value of another type in a row of marbles': `
! fakePeer(helpers, api, {
  prices: ['--a|', { a: 'dear' }],
});`,
  'a text from json that is used as a date': `
const dated = client(peer, contract({ now: request<void, Date>() }));
! dated.now().subscribe((at) => at.getTime());`,
  'an answer with a Map over json': `
! answer(contract({ all: request<void, Map<string, number>>() }), { all: () => new Map<string, number>() });`,
  'bytes that are sent over json': `
const stored = client(peer, contract({ put: upload<void, Uint8Array>() }));
! stored.put(undefined, [new Uint8Array(1)]).subscribe();`,
  'a value that is no procedure': `
contract({
!   square: 5,
});`,
};

const marked = Object.entries(MISTAKES).map(([title, text]) => {
  const lines = text.split('\n');
  return {
    title,
    line: lines.findIndex((line) => line.startsWith('!')),
    program: HEAD + lines.map((line) => line.replace(/^! ?/, '')).join('\n'),
  };
});
const errors = typeErrorsOf(marked);
const headLines = HEAD.split('\n').length - 1;

it.each(marked.map((mistake, nth) => ({ ...mistake, found: errors[nth] ?? [] })))(
  'TypeScript reports $title on its line, and no other error',
  ({ line, found }) => {
    expect(found.map((error) => Number(/^line (\d+)/.exec(error)?.[1]) - headLines)).toEqual([line]);
  },
);
