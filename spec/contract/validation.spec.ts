import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import type * as arktype from 'arktype';
import { concat, lastValueFrom, map, NEVER, of, Subject, tap, throwError, toArray } from 'rxjs';
import type { Observable } from 'rxjs';
import * as v from 'valibot';
import { z } from 'zod';
import { answer, channel, client, contract, plain, request, stream, upload } from '../../src/contract.js';
import type { Answers, Contract, StandardSchemaV1 } from '../../src/contract.js';
import { ResetCode } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { loadEsModule } from '../support/platform/es-module.js';
import { until } from '../support/socket/leaks.js';

/** The calls of a caller that checks what an answering side sends unchecked. */
function checkingCalls<C extends Contract>(api: C, answers: Answers<C>) {
  const { dialer, acceptor } = createPair();
  acceptor.streams$.pipe(answer(api, answers, { validate: false })).subscribe();
  return client(dialer, api, { validate: true });
}

describe('validation', () => {
  const { type } = loadEsModule('arktype') as typeof arktype;
  const logs = collectLogs();

  /** A schema of numbers that decides later. */
  const later: StandardSchemaV1<number> = {
    '~standard': {
      version: 1,
      vendor: 'spec',
      validate: (value) => Promise.resolve(typeof value === 'number' ? { value } : { issues: [{ message: 'not a number' }] }),
    },
  };

  const SCHEMAS: readonly { library: string; n: StandardSchemaV1<{ n: number }>; issue: string }[] = [
    { library: 'zod', n: z.object({ n: z.number() }), issue: 'Invalid input: expected number, received string' },
    { library: 'valibot', n: v.object({ n: v.number() }), issue: 'Invalid type: Expected number but received "2"' },
    { library: 'arktype', n: type({ n: 'number' }), issue: 'n must be a number (was a string)' },
  ];

  it.each(SCHEMAS)('A schema of $library checks a payload before the answer gets it', async ({ n, issue }) => {
    const seen: unknown[] = [];
    const { calls, dialer } = createPair(contract({ square: request({ payload: n, reply: plain<number>() }) }), {
      square: (payload) => {
        seen.push(payload);
        return payload.n ** 2;
      },
    });
    expect(await calls.square.promise({ n: 12 })).toBe(144);
    const message = `the payload of 'square' is invalid: n: ${issue}`;
    await expect(dialer.request(['square', { n: '2' }])).rejects.toMatchObject({
      code: 'REMOTE',
      retriable: false,
      message,
      payload: { name: 'INVALID', message, data: [{ message: issue, path: ['n'] }] },
    });
    expect(seen).toEqual([{ n: 12 }]);
    expect(logs.errors).toEqual([]);
  });

  it('The answer gets a payload as its schema makes it', async () => {
    const api = contract({ plus: request({ payload: z.string().transform(Number).default(7), reply: z.number() }) });
    const { calls } = createPair(api, { plus: (n) => n + 1 });
    expect([await calls.plus.promise('12'), await calls.plus.promise(undefined)]).toEqual([13, 8]);
  });

  it('A call without a payload fails where the schema needs one', async () => {
    const { dialer } = createPair(contract({ book: request({ payload: z.string() }) }), { book: () => undefined });
    await expect(dialer.request(['book'])).rejects.toMatchObject({ payload: { name: 'INVALID', data: [{ path: [] }] } });
  });

  it.each([
    { read: 'as an Observable', sums: 'observed' },
    { read: 'by a loop', sums: 'looped' },
  ] as const)('An item that does not fit fails an upload that is read $read, and stops its producer', async ({ sums }) => {
    const api = contract({
      observed: upload({ input: z.number(), reply: z.number() }),
      looped: upload({ input: z.number(), reply: z.number() }),
    });
    const { calls } = createPair(api, {
      observed: (_, { input }) => lastValueFrom(input),
      looped: async (_, { input }) => {
        let sum = 0;
        for await (const n of input) sum += n;
        return sum;
      },
    });
    const item$ = new Subject<number>();
    const failed = calls[sums].promise(undefined, item$);
    item$.next(1);
    item$.next('2' as never);
    await expect(failed).rejects.toMatchObject({ payload: { name: 'INVALID', message: expect.stringContaining(`an input of '${sums}'`) } });
    expect(item$.observed).toBe(false);
    expect(logs.errors).toEqual([]);
  });

  it('An answer that survives an invalid item does not hide it from the caller', async () => {
    const api = contract({ log: upload({ input: z.number(), reply: z.string() }) });
    const { calls } = createPair(api, { log: (_, { input }) => lastValueFrom(input).catch(() => 'fine') as Promise<string> });
    await expect(calls.log.promise(undefined, ['a' as never])).rejects.toMatchObject({
      resetCode: ResetCode.APPLICATION_ERROR,
      payload: { name: 'INVALID' },
    });
  });

  it('Leaving a loop over checked inputs ends the upload', async () => {
    const api = contract({ first: upload({ input: z.number(), reply: z.number() }) });
    const { calls } = createPair(api, {
      first: async (_, { input }) => {
        for await (const n of input) return n;
        return 0;
      },
    });
    const item$ = new Subject<number>();
    const first = calls.first.promise(undefined, item$);
    item$.next(5);
    expect(await first).toBe(5);
    expect(item$.observed).toBe(false);
  });

  it.each<[string, string, (call$: (retry: false | 'safe') => Observable<number>) => Observable<number>]>([
    ['with `retry`', 'can be read only once', (call$) => call$('safe')],
    ['for a second time', 'that was taken before', (call$) => concat(call$(false), call$(false))],
  ])('Checked inputs are refused as the input of another call %s, as unchecked ones are', async (_how, refusal, relay) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.sendAll(stream));
    const api = contract({ relay: channel({ input: z.number(), item: z.number() }) });
    const { calls } = createPair(api, { relay: (_, { input }) => relay((retry) => dialer.open$<number>(null, { input, retry })) });
    await expect(lastValueFrom(calls.relay(undefined, [1]))).rejects.toMatchObject({ reason: expect.stringContaining(refusal) });
    expect(logs.errors).toHaveLength(1);
  });

  it('A schema that throws in a loop over inputs stops the producer, where the answer goes on', async () => {
    const failing = z.number().refine(() => {
      throw new RangeError('the schema is broken');
    });
    const api = contract({ sum: upload({ input: failing, reply: z.string() }) });
    const { calls } = createPair(api, {
      sum: async (_, { input }) => {
        try {
          await input[Symbol.asyncIterator]().next();
        } catch (error) {
          return String(error);
        }
        return 'no error';
      },
    });
    const item$ = new Subject<number>();
    const sum = calls.sum.promise(undefined, item$);
    item$.next(5);
    expect(await sum).toBe('RangeError: the schema is broken');
    expect(item$.observed).toBe(false);
  });

  it('Schemas that need time check payloads and items in order', async () => {
    const api = contract({
      plus: request({ payload: later, reply: later }),
      each: channel({ payload: later, input: later, item: later }),
      all: stream({ payload: later, item: later }),
      sum: upload({ payload: later, input: later, reply: later }),
    });
    const answers = {
      plus: (n: number) => Promise.resolve(n + 1),
      each: (n: number, { input }: { input: { pipe: Subject<number>['pipe'] } }) => input.pipe(map((m) => n + m)),
      all: (n: number) => [n, n + 1],
      sum: async (n: number, { input }: { input: AsyncIterable<number> }) => {
        let sum = n;
        for await (const m of input) sum += m;
        return sum;
      },
    };
    const { calls, dialer } = createPair(api, answers, { validate: true });
    expect(await calls.plus.promise(1)).toBe(2);
    expect(await lastValueFrom(calls.plus(1))).toBe(2);
    expect(await lastValueFrom(calls.each(1, of(1, 2, 3)).pipe(toArray()))).toEqual([2, 3, 4]);
    expect(await lastValueFrom(calls.all(1).pipe(toArray()))).toEqual([1, 2]);
    expect(await calls.sum.promise(1, [2, 3])).toBe(6);
    await expect(dialer.request(['plus', 'a'])).rejects.toMatchObject({
      payload: { name: 'INVALID', data: [{ message: 'not a number' }] },
    });
    await expect(lastValueFrom(calls.each(1, ['a' as never]))).rejects.toMatchObject({ payload: { name: 'INVALID' } });
  });

  it('An answer gets the inputs that a schema still checks before the error of the caller', async () => {
    const api = contract({ sum: upload({ input: later, reply: later }) });
    const seen: unknown[] = [];
    const sum = (_: unknown, { input }: { input: Observable<number> }): Promise<number> =>
      lastValueFrom(input.pipe(tap({ next: (n) => seen.push(n), error: () => seen.push('no more') })));
    const { calls } = createPair(api, { sum }, { acceptor: { onError: () => undefined } });
    const input$ = concat(
      of(1, 2),
      throwError(() => new RangeError('no more')),
    );
    await expect(calls.sum.promise(undefined, input$)).rejects.toThrow('no more');
    await until('the error', () => seen.includes('no more'));
    expect(seen).toEqual([1, 2, 'no more']);
  });

  it('A caller checks replies and items by option, and an invalid item stops the producer', async () => {
    const api = contract({
      price: request({ reply: z.number().transform(String) }),
      prices: stream({ item: z.number() }),
    });
    const item$ = new Subject<number>();
    const answers = { price: () => 5, prices: () => item$ };
    const calls = checkingCalls(api, answers);
    expect(await calls.price.promise()).toBe('5');
    expect(await lastValueFrom(calls.price())).toBe('5');
    const failed = lastValueFrom(calls.prices());
    await calls.price.promise();
    item$.next('six' as never);
    await expect(failed).rejects.toMatchObject({ payload: { name: 'INVALID', message: expect.stringContaining("what 'prices' sent") } });
    await calls.price.promise();
    expect(item$.observed).toBe(false);
    const neither = createPair(api, { ...answers, price: () => 'five' as never }, { validate: false });
    expect(await neither.calls.price.promise()).toBe('five');
  });

  it('An error names its issues, and carries keys that JSON can hold', async () => {
    const [key, other] = [Symbol('key'), { key: 0 }];
    const issues = [{ message: 'bad', path: [key, other, 'a'] }, { message: 'worse' }];
    const strange: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'spec', validate: () => ({ issues }) } };
    const { dialer } = createPair(contract({ odd: request({ payload: strange }), none: request({ payload: empty }) }), {
      odd: () => undefined,
      none: () => NEVER,
    });
    await expect(dialer.request(['odd'])).rejects.toMatchObject({
      message: "the payload of 'odd' is invalid: Symbol(key): 0: a: bad, worse",
      payload: {
        data: [
          { message: 'bad', path: ['Symbol(key)', 0, 'a'] },
          { message: 'worse', path: [] },
        ],
      },
    });
    await expect(dialer.request(['none'])).rejects.toMatchObject({ message: "the payload of 'none' is invalid: " });
  });

  /** A schema that refuses without a reason. */
  const empty: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'spec', validate: () => ({ issues: [] }) } };
});

describe('schemas', () => {
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
      expect(await lastValueFrom(calls.all(undefined, [1]))).toBe(gets);
    });

    it.each([
      { does: 'no value', payload: z.void(), gets: undefined },
      { does: 'an optional value', payload: z.string().optional(), gets: undefined },
      { does: 'a default', payload: z.string().default('none'), gets: 'none' },
    ])('An answer takes a payload of $does', async ({ payload, gets }) => {
      const seen: unknown[] = [];
      const { calls } = createPair(contract({ one: request({ payload: payload as z.ZodType }) }), {
        one: (value) => void seen.push(value),
      });
      await calls.one.promise(undefined);
      expect(seen).toEqual([gets]);
    });

    it('A caller that checks misses a reply that its schema needs', async () => {
      const reply = z.string();
      const api = contract({ one: request({ reply }), all: upload({ input: z.number(), reply }) });
      const calls = checkingCalls(api, { one: () => null as never, all: () => undefined as never });
      const data = [{ path: [], message: expect.stringMatching(/received null/) }];
      const asked = [
        calls.one.promise(),
        lastValueFrom(calls.one()),
        calls.all.promise(undefined, [1]),
        lastValueFrom(calls.all(undefined, [1])),
      ];
      for (const failed of asked) await expect(failed).rejects.toMatchObject({ payload: { name: 'INVALID', data } });
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
});
