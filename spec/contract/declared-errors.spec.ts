import { describe, expect, it, jest } from '@jest/globals';
import { NEVER, Observable, catchError, concat, finalize, firstValueFrom, lastValueFrom, map, of, tap, throwError } from 'rxjs';
import { z } from 'zod';
import { answer, channel, client, contract, fail, isFailure, plain, request, stream, upload } from '../../src/contract.js';
import type { Around, StandardSchemaV1 } from '../../src/contract.js';
import { RemoteError } from '../../src/index.js';
import { logger } from '../../src/logger.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';

const logs = collectLogs();
const holder = z.object({ by: z.string() });
/** Data with a field that no caller may see. */
const ROW = { by: 'ann', email: 'SECRET' };
const SEEN = { by: 'ann' };
const BAD = { by: 7, email: 'SECRET' } as never;

/** A schema that decides later. */
function delayed<In, Out>(schema: StandardSchemaV1<In, Out>): StandardSchemaV1<In, Out> {
  return { '~standard': { version: 1, vendor: 'spec', validate: (value) => Promise.resolve(schema['~standard'].validate(value)) } };
}

const KINDS = [
  { schema: 'a schema', data: holder as StandardSchemaV1<{ by: string }> },
  { schema: 'a schema that needs time', data: delayed(holder) },
];
const PASSING: readonly { behind: string; around?: Around }[] = [
  { behind: 'alone' },
  { behind: 'behind a function that returns it', around: (_, next) => next() },
  { behind: 'behind a function with an operator', around: (_, next) => next().pipe(map((value) => value)) },
];

const thrownBy = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

describe.each(KINDS)('the data of a declared error, by $schema', ({ data }) => {
  const errors = { TAKEN: data };
  const api = contract({
    get: request({ errors }),
    put: upload({ input: plain<number>(), errors }),
    list: stream({ item: plain<number>(), errors }),
    chat: channel({ input: plain<number>(), item: plain<number>(), errors }),
    slow: request({ payload: delayed(plain<number>()), errors }),
    slowly: stream({ payload: delayed(plain<number>()), item: plain<number>(), errors }),
  });
  const taken = (row: typeof ROW): RemoteError => fail(api.get, 'TAKEN', row);
  const REPLIES: readonly { how: string; end: (error: RemoteError) => never }[] = [
    {
      how: 'is thrown',
      end: (error) => {
        throw error;
      },
    },
    { how: 'a promise rejects with', end: (error) => Promise.reject(error) as never },
    { how: 'an Observable ends with', end: (error) => throwError(() => error) as never },
    {
      how: 'an Observable ends with later',
      end: (error) => new Observable<never>((subscriber) => queueMicrotask(() => subscriber.error(error))) as never,
    },
  ];
  const ITEMS: typeof REPLIES = [
    ...REPLIES,
    {
      how: 'a generator throws',
      end: (error) =>
        (function* () {
          yield* [];
          throw error;
        })() as never,
    },
    {
      how: 'an async generator throws',
      end: (error) =>
        (async function* () {
          yield* await Promise.resolve([]);
          throw error;
        })() as never,
    },
    { how: 'a ReadableStream ends with', end: (error) => new ReadableStream({ start: (to) => to.error(error) }) as never },
  ];
  const repliesOf = (end: () => never, around?: Around): Record<string, Promise<unknown>> => {
    const none = () => NEVER as never;
    const { calls } = createPair(api, { get: end, put: end, slow: end, list: none, chat: none, slowly: none }, { around });
    return {
      get: thrownBy(calls.get.promise()),
      put: thrownBy(calls.put.promise(undefined, [1])),
      slow: thrownBy(calls.slow.promise(1)),
    };
  };
  const itemsOf = (end: () => never, around?: Around): Record<string, Promise<unknown>> => {
    const none = () => NEVER as never;
    const { calls } = createPair(api, { get: none, put: none, slow: none, list: end, chat: end, slowly: end }, { around });
    return {
      list: thrownBy(lastValueFrom(calls.list())),
      chat: thrownBy(lastValueFrom(calls.chat(undefined, NEVER))),
      slowly: thrownBy(lastValueFrom(calls.slowly(1))),
    };
  };

  describe.each(PASSING)('$behind', ({ around }) => {
    it.each([...REPLIES.map((row) => ({ ...row, run: repliesOf })), ...ITEMS.map((row) => ({ ...row, run: itemsOf }))])(
      'An error that $how travels with the data that its schema makes',
      async ({ end, run }) => {
        for (const failed of Object.values(run(() => end(taken(ROW)), around))) {
          const error = await failed;
          expect(error).toHaveProperty('payload', { name: 'TAKEN', message: 'TAKEN', data: SEEN, declared: true });
          expect(isFailure(api.get, 'TAKEN', error)).toBe(true);
        }
        expect(logs).toEqual({ warnings: [], errors: [] });
      },
    );

    it.each([...REPLIES.map((row) => ({ ...row, run: repliesOf })), ...ITEMS.map((row) => ({ ...row, run: itemsOf }))])(
      'An error that $how with data that do not fit is INTERNAL at the caller, and a line of the log',
      async ({ end, run }) => {
        const calls = Object.entries(run(() => end(taken(BAD)), around));
        for (const [name, failed] of calls) {
          const message = `the data of the error 'TAKEN' of '${name}' does not fit its schema: the answering side's log has the issues`;
          expect(await failed).toHaveProperty('payload', { name: 'INTERNAL', message, declared: true });
        }
        expect(logs.errors).toEqual(calls.map(() => expect.stringMatching(/: '\w+' sends an invalid error 'TAKEN'$/)));
      },
    );
  });

  it('Items before an error arrive', async () => {
    const seen: unknown[] = [];
    const { calls } = createPair(contract({ list: api.list }), {
      list: function* () {
        yield* [1, 2];
        throw taken(ROW);
      },
    });
    const error = await thrownBy(lastValueFrom(calls.list().pipe(tap((item) => seen.push(item)))));
    expect(seen).toEqual([1, 2]);
    expect(error).toMatchObject({ payload: { data: SEEN } });
  });

  it('An answer with `validate: false` sends the data as it made them', async () => {
    const { dialer, acceptor } = createPair();
    const one = contract({ get: api.get, list: api.list });
    const end = () => {
      throw taken(BAD);
    };
    acceptor.streams$.pipe(answer(one, { get: end, list: end }, { validate: false })).subscribe();
    for (const call of [dialer.request(['get']), lastValueFrom(dialer.open$(['list']))])
      expect(await thrownBy(call)).toMatchObject({ payload: { name: 'TAKEN', data: BAD } });
    expect(logs.errors).toEqual([]);
  });

  it('A caller that leaves stops the producer of an answer whose errors are checked', async () => {
    const stopped: string[] = [];
    const { calls, dialer } = createPair(contract({ list: api.list, chat: api.chat }), {
      list: () => concat(of(1), NEVER).pipe(finalize(() => stopped.push('an Observable'))),
      chat: async function* () {
        try {
          for (;;) yield await Promise.resolve(1);
        } finally {
          stopped.push('a generator');
        }
      },
    });
    await firstValueFrom(calls.list());
    await firstValueFrom(calls.chat(undefined, NEVER));
    await dialer.ping();
    await dialer.ping();
    expect(stopped).toEqual(['an Observable', 'a generator']);
  });
});

describe('what leaves a server with a declared error', () => {
  it('The log shows each issue on one line, and no data', async () => {
    const shown: unknown[] = [];
    jest.spyOn(logger, 'error').mockImplementation((...line) => void shown.push(...line));
    const api = contract({ book: request({ errors: { TAKEN: holder } }) });
    const { calls } = createPair(api, { book: () => Promise.reject(fail(api.book, 'TAKEN', BAD)) as never });
    await expect(calls.book.promise()).rejects.toMatchObject({ payload: { name: 'INTERNAL' } });
    const text = "the data of the error 'TAKEN' of 'book' is invalid: by: Invalid input: expected string, received number";
    expect(shown).toEqual([expect.stringMatching(/'book' sends an invalid error 'TAKEN'$/), expect.any(TypeError)]);
    expect(shown[1]).toMatchObject({ message: text, stack: `TypeError: ${text}` });
  });

  it('Each schema decides about its own error, also where it has no data, and a schema checks once', async () => {
    const api = contract({
      length: request({ payload: delayed(plain<void>()), errors: { LONG: z.string().transform((text) => text.length) } }),
      items: stream({
        payload: delayed(plain<void>()),
        item: plain<void>(),
        errors: { LONG: z.string().transform((text) => text.length) },
      }),
      filled: request({ errors: { NONE: z.string().default('none') } }),
      empty: request({ errors: { CLOSED: plain<void>(), GONE: z.void() } }),
      lacking: request({ errors: { TAKEN: holder } }),
      typed: request<void, void, { TAKEN: { by: string } }>(),
    });
    const { calls } = createPair(api, {
      length: () => {
        throw fail(api.length, 'LONG', 'four');
      },
      items: () => throwError(() => fail(api.length, 'LONG', 'four')),
      filled: () => {
        throw fail(api.filled, 'NONE', undefined);
      },
      empty: () => {
        throw fail(api.empty, 'GONE');
      },
      lacking: () => {
        throw fail(api.lacking, 'TAKEN', undefined as never);
      },
      typed: () => {
        throw fail(api.typed, 'TAKEN', ROW);
      },
    });
    const payloads = [
      calls.length.promise(),
      lastValueFrom(calls.items()),
      calls.filled.promise(),
      calls.empty.promise(),
      calls.lacking.promise(),
      calls.typed.promise(),
    ];
    const seen = await Promise.all(payloads.map(async (call) => ((await thrownBy(call)) as RemoteError).payload));
    const declared = { declared: true };
    expect(seen).toEqual([
      { name: 'LONG', message: 'LONG', data: 4, ...declared },
      { name: 'LONG', message: 'LONG', data: 4, ...declared },
      { name: 'NONE', message: 'NONE', data: 'none', ...declared },
      { name: 'GONE', message: 'GONE', ...declared },
      { name: 'INTERNAL', message: expect.stringMatching(/^the data of the error 'TAKEN' of 'lacking'/), ...declared },
      { name: 'TAKEN', message: 'TAKEN', data: ROW, ...declared },
    ]);
  });

  it('Errors of another procedure, and the errors of the library, pass as they are', async () => {
    const other = request<void, void, { FULL: { of: string } }>();
    const api = contract({
      book: request({ payload: z.string(), errors: { TAKEN: holder, INVALID: z.object({ why: z.string() }) } }),
    });
    const { calls, dialer } = createPair(api, {
      book: () => {
        throw fail(other, 'FULL', { of: 'seats' });
      },
    });
    await expect(calls.book.promise('12A')).rejects.toMatchObject({ payload: { name: 'FULL', data: { of: 'seats' } } });
    await expect(dialer.request(['book', 12])).rejects.toMatchObject({ payload: { name: 'INVALID', data: [{ path: [] }] } });
  });

  it('Functions around an answer see the data as the answer made them', async () => {
    const seen: unknown[] = [];
    const api = contract({ book: request({ errors: { TAKEN: holder } }) });
    const around: Around = (_, next) =>
      next().pipe(
        catchError((error: RemoteError) => {
          seen.push(error.payload);
          return throwError(() => error);
        }),
      );
    const answers = {
      book: () => {
        throw fail(api.book, 'TAKEN', ROW);
      },
    };
    const { calls } = createPair(api, answers, { around });
    await expect(calls.book.promise()).rejects.toHaveProperty('payload.data', SEEN);
    expect(seen).toMatchObject([{ data: ROW }]);
  });

  it('An error that a server passes on from another one is checked too, and an error serializer still decides about it', async () => {
    const api = contract({ book: request({ errors: { TAKEN: holder } }) });
    const passedOn = () => {
      throw new RemoteError('TAKEN', { name: 'TAKEN', message: 'TAKEN', data: ROW, declared: true });
    };
    const open = createPair(api, { book: passedOn });
    await expect(open.calls.book.promise()).rejects.toHaveProperty('payload.data', SEEN);
    const closed = createPair(api, { book: passedOn }, { acceptor: { errorSerializer: () => ({ message: 'try later' }) } });
    await expect(closed.calls.book.promise()).rejects.toHaveProperty('payload', { message: 'try later' });
    const own = createPair(
      api,
      {
        book: () => {
          throw fail(api.book, 'TAKEN', ROW);
        },
      },
      { acceptor: { errorSerializer: () => ({ message: 'try later' }) } },
    );
    await expect(own.calls.book.promise()).rejects.toHaveProperty('payload.data', SEEN);
  });

  it('A schema that throws fails the call like its answer', async () => {
    const broken: StandardSchemaV1<{ by: string }> = {
      '~standard': {
        version: 1,
        vendor: 'spec',
        validate: () => {
          throw new RangeError('no table');
        },
      },
    };
    const api = contract({ book: request({ errors: { TAKEN: broken } }) });
    const { calls } = createPair(api, {
      book: () => {
        throw fail(api.book, 'TAKEN', ROW);
      },
    });
    await expect(calls.book.promise()).rejects.toMatchObject({ payload: { name: 'RangeError', message: 'no table' } });
    expect(logs.errors).toHaveLength(1);
  });

  it('A caller that checks replies takes the data of errors as they arrive', async () => {
    const api = contract({ book: request({ errors: { LONG: z.string().transform((text) => text.length) } }) });
    const { dialer } = createPair(api, {
      book: () => {
        throw fail(api.book, 'LONG', 'four');
      },
    });
    const error = await thrownBy(client(dialer, api, { validate: true }).book.promise());
    expect(isFailure(api.book, 'LONG', error) && error.payload.data.toFixed(1)).toBe('4.0');
  });

  it('A contract with an error whose schema is none is refused by its answer', () => {
    const api = contract({ book: request({ errors: { TAKEN: { by: 'text' } as never } }) });
    expect(() => answer(api, { book: () => undefined })).toThrow("the error 'TAKEN' of 'book': expected a schema");
  });
});
