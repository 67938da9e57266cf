import { describe, expect, it, jest } from '@jest/globals';
import {
  EMPTY,
  Observable,
  Subject,
  catchError,
  concat,
  concatMap,
  firstValueFrom,
  from,
  interval,
  lastValueFrom,
  map,
  NEVER,
  of,
  take,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import { z } from 'zod';
import { answer, channel, client, contract, isFailure, plain, request, stream, upload } from '../../src/contract.js';
import type { Around, StandardSchemaV1 } from '../../src/contract.js';
import { SharedPayload } from '../../src/index.js';
import { logger } from '../../src/logger.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';

const user = z.object({ name: z.string() });
/** A row of a database, with a field that no caller may see. */
const ROW = { name: 'ann', passwordHash: 'SECRET' };
const SEEN = { name: 'ann' };
/** A row that does not fit. */
const BAD = { name: 7, passwordHash: 'SECRET' } as never;

/** The schema of a user, which decides later. */
const later: StandardSchemaV1<{ name: string }> = {
  '~standard': { version: 1, vendor: 'spec', validate: (value) => Promise.resolve(user['~standard'].validate(value)) },
};

const KINDS = [
  { schema: 'a schema', one: user as StandardSchemaV1<{ name: string }> },
  { schema: 'a schema that needs time', one: later },
];

const logs = collectLogs();

async function* generated<T>(...values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield await Promise.resolve(value);
}

function readable<T>(...values: readonly T[]): ReadableStream<T> {
  return new ReadableStream({
    start(controller) {
      for (const value of values) controller.enqueue(value);
      controller.close();
    },
  });
}

describe.each(KINDS)('what an answer sends, by $schema', ({ one }) => {
  const api = contract({
    get: request({ reply: one }),
    put: upload({ input: plain<number>(), reply: one }),
    list: stream({ item: one }),
    chat: channel({ input: plain<number>(), item: one }),
    slow: request({ payload: later, reply: one }),
    slowly: stream({ payload: later, item: one }),
  });
  const NONE = {
    get: () => ROW,
    put: () => ROW,
    list: () => [ROW],
    chat: () => [ROW],
    slow: () => ROW,
    slowly: () => [ROW],
  };
  const PASSING: readonly { behind: string; around?: Around }[] = [
    { behind: 'alone' },
    { behind: 'behind a function that returns it', around: (_, next) => next() },
    { behind: 'behind a function with an operator', around: (_, next) => next().pipe(map((value) => value)) },
  ];

  describe.each(PASSING)('$behind', ({ around }) => {
    it.each([
      { how: 'a value', returns: () => ROW },
      { how: 'a promise', returns: () => Promise.resolve(ROW) },
      { how: 'an Observable', returns: () => of(ROW, ROW) },
      { how: 'an Observable that emits later', returns: () => interval(0).pipe(map(() => ROW)) },
    ])('A reply by $how travels as its schema makes it', async ({ returns }) => {
      const { dialer, calls } = createPair(api, { ...NONE, get: returns, put: returns, slow: returns }, { around });
      expect(await dialer.request(['get'])).toEqual(SEEN);
      expect(await dialer.request(['slow', SEEN])).toEqual(SEEN);
      expect(await calls.put.promise(undefined, [1])).toEqual(SEEN);
    });

    it.each([
      { how: 'an array', returns: () => [ROW, ROW] },
      { how: 'an Observable', returns: () => of(ROW, ROW) },
      { how: 'an Observable that emits later', returns: () => interval(0).pipe(map(() => ROW)) },
      { how: 'a generator', returns: () => [ROW, ROW].values() },
      { how: 'an async generator', returns: () => generated(ROW, ROW) },
      { how: 'a ReadableStream', returns: () => readable(ROW, ROW) },
      { how: 'shared payloads', returns: () => [new SharedPayload(ROW), new SharedPayload(ROW)] },
    ])('Items by $how travel as their schema makes them', async ({ returns }) => {
      const { calls } = createPair(api, { ...NONE, list: returns, chat: returns, slowly: returns }, { around });
      const two = (calls$: Observable<unknown>) => lastValueFrom(calls$.pipe(take(2), toArray()));
      expect(await two(calls.list())).toEqual([SEEN, SEEN]);
      expect(await two(calls.chat(undefined, NEVER))).toEqual([SEEN, SEEN]);
      expect(await two(calls.slowly(SEEN))).toEqual([SEEN, SEEN]);
    });

    it('An answer that fails behind its items sends all of them before its error', async () => {
      const failing = (): Observable<typeof ROW> =>
        concat(
          of(ROW, ROW),
          throwError(() => new RangeError('no more')),
        );
      const answers = { ...NONE, list: failing, chat: failing, slowly: failing };
      const { calls } = createPair(api, answers, { around, acceptor: { onError: () => undefined } });
      const ending = catchError(({ reason }: { reason: string }) => of(reason));
      for (const items$ of [calls.list(), calls.chat(undefined, NEVER), calls.slowly(SEEN)] as Observable<unknown>[])
        expect(await lastValueFrom(items$.pipe(ending, toArray()))).toEqual([SEEN, SEEN, 'no more']);
    });

    it('A promise of one item travels as its schema makes it, and a promise of none sends none', async () => {
      const { calls } = createPair(
        api,
        {
          ...NONE,
          list: () => Promise.resolve(ROW) as never,
          chat: () => Promise.resolve() as never,
          slowly: () => Promise.resolve() as never,
        },
        { around },
      );
      expect(await lastValueFrom(calls.list().pipe(toArray()))).toEqual([SEEN]);
      expect(await lastValueFrom(calls.chat(undefined, []).pipe(toArray()))).toEqual([]);
      expect(await lastValueFrom(calls.slowly(SEEN).pipe(toArray()))).toEqual([]);
    });

    it.each([
      { how: 'a value', returns: () => BAD },
      { how: 'a promise', returns: () => Promise.resolve(BAD) as never },
      { how: 'an Observable', returns: () => of(BAD) as never },
      { how: 'an Observable without a value', returns: () => EMPTY as never },
      { how: 'nothing', returns: () => undefined as never },
      { how: 'a promise of nothing', returns: () => Promise.resolve() as never },
    ])('A reply by $how that does not fit is an INTERNAL error at the caller, and a line of the log', async ({ returns }) => {
      const { calls } = createPair(api, { ...NONE, get: returns, put: returns, slow: returns }, { around });
      const failed = [
        ['get', calls.get.promise()],
        ['put', calls.put.promise(undefined, [1])],
        ['slow', calls.slow.promise(SEEN)],
      ] as const;
      for (const [name, call] of failed) {
        const message = `the reply of '${name}' does not fit its schema: the answering side's log has the issues`;
        const error = await call.catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'REMOTE', retriable: false, message: expect.stringContaining(message) });
        expect(error).toHaveProperty('payload', { name: 'INTERNAL', message, declared: true });
        expect(isFailure(api[name], 'INTERNAL', error)).toBe(true);
      }
      expect(logs.errors).toHaveLength(3);
      expect(logs.errors[0]).toMatch(/^rxmux: peer \d+, stream 1: 'get' sends an invalid reply$/);
    });
  });

  it.each([
    { how: 'an array', items: () => [ROW, BAD, ROW] },
    { how: 'an Observable', items: () => of(ROW, BAD, ROW) },
    { how: 'an async generator', items: () => generated(ROW, BAD, ROW) },
    { how: 'a ReadableStream', items: () => readable(ROW, BAD, ROW) },
    { how: 'shared payloads', items: () => [ROW, BAD, ROW].map((row) => new SharedPayload(row)) },
  ])('An item of $how that does not fit fails the call behind the items before it', async ({ items }) => {
    const { calls } = createPair(api, { ...NONE, list: items as never });
    const seen: unknown[] = [];
    const error = await lastValueFrom(calls.list().pipe(tap((item) => seen.push(item)))).catch((thrown: unknown) => thrown);
    expect(seen).toEqual([SEEN]);
    const message = "an item of 'list' does not fit its schema: the answering side's log has the issues";
    expect(error).toMatchObject({ payload: { name: 'INTERNAL', message } });
    expect(logs.errors).toHaveLength(1);
  });

  it('An item that does not fit stops its producer, whatever kind it is', async () => {
    const stopped: string[] = [];
    const producers: Readonly<Record<string, () => unknown>> = {
      observable: () => {
        const values$ = new Observable((subscriber) => {
          subscriber.next(BAD);
          return () => stopped.push('observable');
        });
        return values$;
      },
      *generator() {
        try {
          yield BAD;
        } finally {
          stopped.push('generator');
        }
      },
      async *asyncGenerator() {
        try {
          yield await Promise.resolve(BAD);
        } finally {
          stopped.push('asyncGenerator');
        }
      },
      readable: () =>
        new ReadableStream({
          pull: (controller) => controller.enqueue(BAD),
          cancel: () => void stopped.push('readable'),
        }),
    };
    for (const [kind, produce] of Object.entries(producers)) {
      const { calls, dialer } = createPair(api, { ...NONE, list: produce as never });
      await expect(lastValueFrom(calls.list())).rejects.toMatchObject({ payload: { name: 'INTERNAL' } });
      await dialer.ping();
      expect(stopped.at(-1)).toBe(kind);
    }
    expect(stopped).toHaveLength(4);
  });

  it('A caller that leaves stops a producer whose items are checked', async () => {
    let stops = 0;
    const items = async function* () {
      try {
        for (;;) yield await Promise.resolve(ROW);
      } finally {
        stops++;
      }
    };
    const { calls, dialer } = createPair(api, { ...NONE, list: items });
    expect(await firstValueFrom(calls.list())).toEqual(SEEN);
    await dialer.ping();
    await dialer.ping();
    expect(stops).toBe(1);
    expect(logs.errors).toEqual([]);
  });

  it('A reply that comes after its caller has left is not checked', async () => {
    let finish: (row: never) => void = () => undefined;
    const { calls, dialer } = createPair(api, { ...NONE, get: () => new Promise((resolve) => (finish = resolve)) });
    const leaving = calls.get().subscribe();
    await dialer.ping();
    leaving.unsubscribe();
    await dialer.ping();
    finish(BAD);
    await dialer.ping();
    expect(logs).toEqual({ warnings: [], errors: [] });
  });

  it('Answers with `validate: false` send each value as they made it', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(answer(api, { ...NONE, get: () => Promise.resolve(BAD) as never }, { validate: false })).subscribe();
    expect(await dialer.request(['get'])).toEqual(BAD);
    expect(await firstValueFrom(dialer.open$(['list']))).toEqual(ROW);
    expect(logs.errors).toEqual([]);
  });
});

describe('what leaves a server', () => {
  it('The log shows each issue on one line, and no stack of the library', async () => {
    const shown: unknown[] = [];
    jest.spyOn(logger, 'error').mockImplementation((...line) => void shown.push(...line));
    const reply = z.object({ name: z.string(), tags: z.array(z.string().refine((tag) => tag === '', 'no\nline')) });
    const { calls } = createPair(contract({ me: request({ reply }) }), { me: () => ({ name: 1, tags: ['a'] }) as never });
    await expect(calls.me.promise()).rejects.toMatchObject({ payload: { name: 'INTERNAL' } });
    const issues = 'name: Invalid input: expected string, received number, tags: 0: no\\nline';
    expect(shown).toEqual([expect.stringMatching(/'me' sends an invalid reply$/), expect.any(TypeError)]);
    expect(shown[1]).toMatchObject({
      message: `the reply of 'me' is invalid: ${issues}`,
      stack: `TypeError: the reply of 'me' is invalid: ${issues}`,
    });
  });

  it('Error observers see a value that does not fit, and an error serializer does not hide INTERNAL', async () => {
    const errors: unknown[] = [];
    const api = contract({ me: request({ reply: user }) });
    const { calls } = createPair(
      api,
      { me: () => BAD },
      { acceptor: { errorSerializer: () => ({ message: 'try later' }), onError: (error) => void errors.push(error) } },
    );
    await expect(calls.me.promise()).rejects.toMatchObject({ payload: { name: 'INTERNAL' } });
    expect(errors).toMatchObject([{ message: expect.stringMatching(/^the reply of 'me' is invalid: name: /) }]);
    expect(logs.errors).toEqual([]);
  });

  it('A schema that throws fails the call like its answer', async () => {
    const broken: StandardSchemaV1<number> = {
      '~standard': {
        version: 1,
        vendor: 'spec',
        validate: () => {
          throw new RangeError('no table');
        },
      },
    };
    const api = contract({ get: request({ reply: broken }), list: stream({ item: broken }) });
    const { calls } = createPair(api, { get: () => 1, list: () => [1] });
    await expect(calls.get.promise()).rejects.toMatchObject({ payload: { name: 'RangeError', message: 'no table' } });
    await expect(lastValueFrom(calls.list())).rejects.toMatchObject({ payload: { name: 'RangeError', message: 'no table' } });
    expect(logs.errors).toHaveLength(2);
  });

  it('Functions around an answer see its own values, and cannot add a field', async () => {
    const seen: unknown[] = [];
    const api = contract({ me: request({ reply: user }) });
    const around: Around = (_, next) =>
      next().pipe(
        map((value) => {
          seen.push(value);
          return { ...(value as object), debug: 'trace' };
        }),
      );
    const { dialer } = createPair(api, { me: () => ROW }, { around });
    expect(await dialer.request(['me'])).toEqual(SEEN);
    expect(seen).toEqual([ROW]);
  });

  it('A caller gets what a schema makes of a reply, also where it is no value', async () => {
    const api = contract({
      length: request({ reply: z.string().transform((text) => text.length) }),
      filled: request({ reply: z.string().default('none') }),
      maybe: request({ reply: z.string().optional() }),
      nothing: request({ reply: z.void() }),
      null: request({ reply: z.string().nullable() }),
    });
    const { calls } = createPair(api, {
      length: () => 'four',
      filled: () => undefined,
      maybe: () => undefined,
      nothing: () => undefined,
      null: () => null,
    });
    const all = [calls.length, calls.filled, calls.maybe, calls.nothing, calls.null].map((call) => call.promise());
    expect(await Promise.all(all)).toEqual([4, 'none', null, null, null]);
  });

  it('A caller that checks too needs a schema that takes what it has made, or an answering side that does not check', async () => {
    const api = contract({ length: request({ reply: z.string().transform((text) => text.length) }), me: request({ reply: user }) });
    const answers = { length: () => 'four', me: () => ROW };
    const both = createPair(api, answers, { validate: true });
    expect(await both.calls.me.promise()).toEqual(SEEN);
    await expect(both.calls.length.promise()).rejects.toMatchObject({ payload: { name: 'INVALID' } });
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(answer(api, answers, { validate: false })).subscribe();
    expect(await client(dialer, api, { validate: true }).length.promise()).toBe(4);
  });
});

describe('how checked items leave', () => {
  /** Counts how often it has decided. */
  function counting(): { schema: StandardSchemaV1<{ name: string }>; runs: () => number } {
    let runs = 0;
    const schema: StandardSchemaV1<{ name: string }> = {
      '~standard': {
        version: 1,
        vendor: 'spec',
        validate: (value) => {
          runs++;
          return user['~standard'].validate(value);
        },
      },
    };
    return { schema, runs: () => runs };
  }

  it.each([
    {
      kind: 'an iterable',
      rows: (row: () => typeof ROW) =>
        (function* () {
          for (;;) yield row();
        })(),
    },
    {
      kind: 'an async generator',
      rows: (row: () => typeof ROW) =>
        (async function* () {
          for (;;) yield await Promise.resolve(row());
        })(),
    },
    { kind: 'a ReadableStream', rows: (row: () => typeof ROW) => new ReadableStream({ pull: (to) => to.enqueue(row()) }) },
  ])('The items of $kind are pulled as the queue drains, also where a schema checks them', async ({ rows }) => {
    const made = async (item: StandardSchemaV1<typeof ROW>): Promise<number> => {
      let count = 0;
      const big = () => ({ name: 'x'.repeat(10_000), passwordHash: String(count++) });
      const { calls, dialer, link } = createPair(contract({ list: stream({ item }) }), { list: () => rows(big) as never });
      const leaving = calls.list().subscribe();
      await dialer.ping();
      link.stall('dialer');
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      link.resume('dialer');
      leaving.unsubscribe();
      return count;
    };
    const unchecked = await made(plain());
    const checked = await made(user as never);
    expect(unchecked).toBeLessThan(1_000);
    expect(checked).toBeLessThan(2 * unchecked + 100);
  });

  it('A shared payload is checked once for all its streams, and stays shared', async () => {
    const { schema, runs } = counting();
    const source$ = new Subject<SharedPayload<{ name: string }>>();
    let encodings = 0;
    const api = contract({ list: stream({ item: schema }) });
    const { calls, acceptor, dialer } = createPair(api, { list: () => source$ });
    const seen: unknown[] = [];
    for (let nth = 0; nth < 3; nth++) calls.list().subscribe((item) => seen.push(item));
    await dialer.ping();
    const row = { name: 'ann', toJSON: () => (encodings++, SEEN) };
    source$.next(new SharedPayload(row));
    await acceptor.ping();
    expect(seen).toEqual([SEEN, SEEN, SEEN]);
    expect(runs()).toBe(1);
    expect(encodings).toBeLessThanOrEqual(1);
  });

  it('A stream of another peer passes through a checked answer, and its producer stops with the caller', async () => {
    let stops = 0;
    const api = contract({ list: stream({ item: user }) });
    const origin = createPair();
    origin.acceptor.onStream((_, far) =>
      far.sendAll(
        new Observable((subscriber) => {
          subscriber.next(ROW);
          return () => stops++;
        }),
      ),
    );
    const { calls, dialer } = createPair(api, { list: () => origin.dialer.open<{ name: string }>('rows') });
    expect(await firstValueFrom(calls.list())).toEqual(SEEN);
    await dialer.ping();
    await origin.dialer.ping();
    expect(stops).toBe(1);
  });

  it('A stream that has been answered once is refused as the answer of a second call', async () => {
    const rows = generated(ROW);
    const { calls } = createPair(contract({ list: stream({ item: user }) }), { list: () => rows });
    expect(await lastValueFrom(calls.list())).toEqual(SEEN);
    await expect(lastValueFrom(calls.list())).rejects.toMatchObject({
      reason: expect.stringContaining('an iterator that was taken before'),
    });
  });

  it('Bytes are no items of a checked answer', async () => {
    const { calls } = createPair(contract({ list: stream({ item: plain<number>() }), named: stream({ item: z.number() }) }), {
      list: () => new Uint8Array(2) as never,
      named: () => new Uint8Array(2) as never,
    });
    for (const call of [calls.list(), calls.named()])
      await expect(lastValueFrom(call)).rejects.toMatchObject({ reason: expect.stringContaining('got bytes: [bytes] is an input') });
  });

  it('A plain type beside schemas costs no check, and keeps the value', async () => {
    const { calls } = createPair(contract({ get: request({ reply: plain<{ name: string }>() }) }), { get: () => ROW });
    expect(await calls.get.promise()).toEqual(ROW);
  });

  it('A source that is slower than its schema keeps the order of its items', async () => {
    let wait = 3;
    const slowing: StandardSchemaV1<number> = {
      '~standard': {
        version: 1,
        vendor: 'spec',
        validate: async (value) => {
          for (let turn = wait--; turn > 0; turn--) await Promise.resolve();
          return { value: value as number };
        },
      },
    };
    const api = contract({ list: stream({ item: slowing }) });
    const { calls } = createPair(api, { list: () => from([1, 2, 3]).pipe(concatMap((n) => of(n))) });
    expect(await lastValueFrom(calls.list().pipe(toArray()))).toEqual([1, 2, 3]);
  });
});
