import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import type * as arktype from 'arktype';
import { lastValueFrom, map, NEVER } from 'rxjs';
import type { Observable } from 'rxjs';
import { z } from 'zod';
import { contract, plain, request, stream, upload } from '../../src/contract.js';
import type { StandardSchemaV1 } from '../../src/contract.js';
import { collectLogs } from '../support/peer/logs.js';
import { loadEsModule } from '../support/platform/es-module.js';
import { createPair } from '../support/peer/tracked.js';

const { type } = loadEsModule('arktype') as typeof arktype;
const logs = collectLogs();

describe('schemas that need time', () => {
  it.each([
    { around: undefined, does: 'alone' },
    { around: (_: unknown, next: () => Observable<unknown>) => next().pipe(map((value) => value)), does: 'behind a function around it' },
  ])('No answer starts for a caller that has left while a schema took its time, $does', async ({ around }) => {
    let decide: () => void = () => undefined;
    const slow: StandardSchemaV1<number> = {
      '~standard': {
        version: 1,
        vendor: 'spec',
        validate: (value) => new Promise((resolve) => (decide = () => resolve({ value: value as number }))),
      },
    };
    const paid: number[] = [];
    const api = contract({ pay: request({ payload: slow }), watch: stream({ payload: slow, item: plain<number>() }) });
    const answers = {
      pay: (amount: number) => void paid.push(amount),
      watch: (amount: number) => {
        paid.push(amount);
        return NEVER;
      },
    };
    const { calls, dialer } = createPair(api, answers, { around });
    for (const call$ of [calls.pay(5), calls.watch(6)] as readonly Observable<unknown>[]) {
      const leaving = call$.subscribe();
      await dialer.ping();
      leaving.unsubscribe();
      await dialer.ping();
      decide();
      await dialer.ping();
    }
    expect(paid).toEqual([]);
    expect(logs.errors).toEqual([]);
  });
});

describe('no value', () => {
  it.each([
    { does: 'no value', reply: z.void(), returns: undefined, gets: undefined },
    { does: 'an optional value', reply: z.string().optional(), returns: undefined, gets: undefined },
    { does: 'a default', reply: z.string().default('none'), returns: undefined, gets: 'none' },
    { does: 'null', reply: z.null(), returns: null, gets: null },
    { does: 'null or nothing', reply: z.number().nullish(), returns: undefined, gets: null },
    { does: 'no value, later', reply: z.void().refine(() => Promise.resolve(true)), returns: undefined, gets: undefined },
  ])('A caller that checks takes a reply of $does', async ({ reply, returns, gets }) => {
    const api = contract({ one: request({ reply }), all: upload({ input: z.number(), reply }) });
    const { calls } = createPair(api, { one: () => returns as never, all: () => returns as never }, { validate: true });
    expect(await calls.one.promise()).toBe(gets);
    expect(await lastValueFrom(calls.one())).toBe(gets);
    expect(await calls.all.promise(undefined, [1])).toBe(gets);
  });

  it.each([
    { does: 'no value', payload: z.void(), gets: undefined },
    { does: 'an optional value', payload: z.string().optional(), gets: undefined },
    { does: 'a default', payload: z.string().default('none'), gets: 'none' },
  ])('An answer takes a payload of $does', async ({ payload, gets }) => {
    const seen: unknown[] = [];
    const { calls } = createPair(contract({ one: request({ payload: payload as z.ZodType }) }), { one: (value) => void seen.push(value) });
    await calls.one.promise(undefined);
    expect(seen).toEqual([gets]);
  });

  it('A caller that checks misses a reply that its schema needs', async () => {
    const { calls } = createPair(contract({ one: request({ reply: z.string() }) }), { one: () => null as never }, { validate: true });
    const data = [{ path: [], message: expect.stringMatching(/received null/) }];
    await expect(calls.one.promise()).rejects.toMatchObject({ payload: { name: 'INVALID', data } });
  });
});

describe('issues', () => {
  it('An error lists a hundred issues of a value with thousands', async () => {
    const { dialer } = createPair(contract({ all: request({ payload: z.array(z.number()) }) }), { all: () => undefined });
    const failed = await dialer.request(['all', Array.from({ length: 50_000 }, () => 'x')]).catch((error: unknown) => error);
    const message = /^the payload of 'all' is invalid: 0: Invalid input/;
    expect(failed).toMatchObject({ message: expect.stringMatching(message), payload: { name: 'INVALID' } });
    expect(failed).toHaveProperty('payload.data.length', 100);
  });

  it('An issue of arktype about the value itself has an empty path', async () => {
    const { dialer } = createPair(contract({ one: request({ payload: type('string') }) }), { one: () => undefined });
    await expect(dialer.request(['one', 1])).rejects.toMatchObject({ payload: { data: [{ path: [] }] } });
  });

  it('An input that a promise of another realm checks resets its stream', async () => {
    const foreign: StandardSchemaV1<number> = {
      '~standard': {
        version: 1,
        vendor: 'spec',
        validate: () => runInNewContext("Promise.resolve({ issues: [{ message: 'no' }] })") as never,
      },
    };
    const api = contract({ sum: upload({ input: foreign, reply: z.string() }) });
    const { calls } = createPair(api, { sum: (_, { input }) => lastValueFrom(input).catch(() => 'fine') as Promise<string> });
    await expect(calls.sum.promise(undefined, [1])).rejects.toMatchObject({ payload: { name: 'INVALID' } });
  });
});
