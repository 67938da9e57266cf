import { describe, expect, it } from '@jest/globals';
import { lastValueFrom, toArray } from 'rxjs';
import { channel, contract, plain, request, stream, upload } from '../../src/contract.js';
import type { StandardSchemaV1 } from '../../src/contract.js';
import { collectLogs } from '../support/peer/logs.js';
import { THENABLES } from '../support/peer/thenables.js';
import type { Work } from '../support/peer/thenables.js';
import { createPair } from '../support/peer/tracked.js';

const logs = collectLogs();

const api = contract({
  find: request<void, string>(),
  list: stream<void, string>(),
  store: upload<void, number, string>(),
  chat: channel<void, number, string>(),
});

/** Calls each procedure once. */
async function allOf(pair: ReturnType<typeof answering>): Promise<unknown[]> {
  const { calls } = pair;
  const all: unknown[] = [];
  all.push(await calls.find.promise());
  all.push(await lastValueFrom(calls.list().pipe(toArray())));
  all.push(await calls.store.promise(undefined, [1]));
  all.push(await lastValueFrom(calls.chat(undefined, [1]).pipe(toArray())));
  return all;
}

function answering(returned: () => unknown, options: object = {}) {
  const one = returned as () => never;
  return createPair(api, { find: one, list: one, store: one, chat: one }, options);
}

describe.each(THENABLES)('an answer that returns $kind', ({ make }) => {
  it('An answer awaits its result once, and sends no part of the thenable', async () => {
    const work: Work = { starts: 0 };
    const pair = answering(() => make(() => 'row', work));
    expect(await allOf(pair)).toEqual(['row', ['row'], 'row', ['row']]);
    expect(work.starts).toBe(4);
    expect(logs).toEqual({ warnings: [], errors: [] });
  });

  it('An answer behind `around` awaits its result once', async () => {
    const work: Work = { starts: 0 };
    const pair = answering(() => make(() => 'row', work), { around: (_: unknown, next: () => unknown) => next() });
    expect(await allOf(pair)).toEqual(['row', ['row'], 'row', ['row']]);
    expect(work.starts).toBe(4);
  });

  it('An answer fails with the error of its result', async () => {
    const pair = answering(() =>
      make(() => {
        throw new RangeError('no such row');
      }),
    );
    await expect(pair.calls.find.promise()).rejects.toMatchObject({ payload: { name: 'RangeError', message: 'no such row' } });
    await expect(lastValueFrom(pair.calls.list())).rejects.toMatchObject({ payload: { message: 'no such row' } });
  });

  it('A function around an answer may return no thenable', async () => {
    const pair = answering(() => 'row', { around: () => make(() => 'row') });
    const message = "around 'find': expected an Observable, got a promise; return from(work).pipe(mergeMap(next))";
    await expect(pair.calls.find.promise()).rejects.toMatchObject({ reason: message });
  });
});

describe.each(THENABLES)('a schema whose verdict is $kind', ({ make }) => {
  const numbers: StandardSchemaV1<number> = {
    '~standard': {
      version: 1,
      vendor: 'spec',
      validate: (value) => make(() => (typeof value === 'number' ? { value } : { issues: [{ message: 'not a number' }] })) as never,
    },
  };
  const checked = contract({
    square: request({ payload: numbers, reply: numbers }),
    sum: upload({ input: numbers, reply: plain<number>() }),
    one: upload({ input: numbers, reply: plain<number>() }),
  });

  it('The verdict decides about payloads, inputs and replies', async () => {
    const reached: unknown[] = [];
    const answers = {
      square: (n: number) => (n === 7 ? ('text' as never) : n * n),
      sum: async (_: unknown, { input }: { input: AsyncIterable<number> }) => {
        let sum = 0;
        for await (const n of input) {
          reached.push(n);
          sum += n;
        }
        return sum;
      },
      one: (_: unknown, { input }: { input: Parameters<typeof lastValueFrom<number>>[0] }) => lastValueFrom(input),
    };
    const { calls } = createPair(checked, answers, { validate: true });
    expect(await calls.square.promise(3)).toBe(9);
    expect(await calls.sum.promise(undefined, [1, 2])).toBe(3);
    expect(await calls.one.promise(undefined, [1, 2])).toBe(2);
    const invalid = { payload: { name: 'INVALID', data: [{ message: 'not a number', path: [] }] } };
    await expect(calls.square.promise('3' as never)).rejects.toMatchObject(invalid);
    await expect(calls.square.promise(7)).rejects.toMatchObject(invalid);
    await expect(lastValueFrom(calls.square(7))).rejects.toMatchObject(invalid);
    await expect(calls.sum.promise(undefined, [1, '2' as never])).rejects.toMatchObject(invalid);
    await expect(calls.one.promise(undefined, ['2' as never])).rejects.toMatchObject(invalid);
    expect(reached).not.toContain('2');
  });
});

describe('verdicts that are none', () => {
  it.each<readonly [what: string, verdict: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['a text', 'fine'],
    ['an object with neither a value nor issues', { success: true }],
    ['a list of issues alone', [{ message: 'no' }]],
    ['a count of issues', { value: 1, issues: 0 }],
    ['issues that are a text', { issues: 'no' }],
    ['a promise of nothing', Promise.resolve()],
    ['a promise of a function', Promise.resolve(() => ({ value: 1 }))],
  ])('A schema whose verdict is %s passes no payload', async (_what, verdict) => {
    const broken: StandardSchemaV1<number> = { '~standard': { version: 1, vendor: 'spec', validate: () => verdict as never } };
    const reached: unknown[] = [];
    const { calls } = createPair(contract({ pay: request({ payload: broken, reply: plain<void>() }) }), {
      pay: (n) => void reached.push(n),
    });
    await expect(calls.pay.promise(1)).rejects.toMatchObject({
      reason: expect.stringMatching(/^the schema of the payload of 'pay': expected \{ value \} or \{ issues \}, got /),
      payload: { name: 'TypeError' },
    });
    expect(reached).toEqual([]);
    expect(logs.errors).toHaveLength(1);
  });
});
