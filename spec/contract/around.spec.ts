import { describe, expect, it } from '@jest/globals';
import { catchError, defer, finalize, from, lastValueFrom, map, mergeMap, of, Subject, tap, throwError, toArray } from 'rxjs';
import type { Around } from '../../src/contract.js';
import { answer, contract, plain, request, stream } from '../../src/contract.js';
import type { StandardSchemaV1 } from '../../src/contract.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { answers } from './answers.js';
import { api } from './api.js';

const logs = collectLogs();

const later: StandardSchemaV1<number> = {
  '~standard': { version: 1, vendor: 'spec', validate: (value) => Promise.resolve({ value: value as number }) },
};

describe('around', () => {
  it('Functions around answers see each call, the first of a list outermost', async () => {
    const seen: string[] = [];
    const noting =
      (letter: string): Around =>
      ({ name, kind, payload, headers }, next) => {
        seen.push(`${letter} ${kind} ${name} ${JSON.stringify([payload, headers])}`);
        return next().pipe(finalize(() => seen.push(`${letter} ends`)));
      };
    const { calls } = createPair(api, answers, { around: [noting('a'), noting('b')] });
    expect(await calls.square.promise({ n: 3 }, { headers: { trace: 1 } })).toBe(9);
    expect(seen).toEqual(['a request square [{"n":3},{"trace":1}]', 'b request square [{"n":3},{"trace":1}]', 'b ends', 'a ends']);
  });

  it('One function around all kinds of calls changes and counts their values', async () => {
    const counts: Record<string, number> = {};
    const { calls } = createPair(api, answers, {
      around: ({ name }, next) => next().pipe(tap(() => (counts[name] = (counts[name] ?? 0) + 1))),
    });
    expect(await calls.now.promise()).toBe('noon');
    expect(await lastValueFrom(calls.count({ from: 1 }).pipe(toArray()))).toEqual([1, 2, 3]);
    expect(await calls.total.promise(undefined, [1, 2])).toBe(3);
    expect(await lastValueFrom(calls.chat.shout(undefined, ['a', 'b']).pipe(toArray()))).toEqual(['A', 'B']);
    expect(counts).toEqual({ now: 1, count: 3, total: 1, 'chat.shout': 2 });
  });

  it('A function that does not call next keeps the answer from running', async () => {
    const ran: string[] = [];
    const { calls } = createPair(
      api,
      { ...answers, now: () => `${ran.push('now')}` },
      { around: ({ name }, next) => (name === 'now' ? throwError(() => new Error('not you')) : next()) },
    );
    await expect(calls.now.promise()).rejects.toMatchObject({ reason: 'not you' });
    expect(await calls.square.promise({ n: 2 })).toBe(4);
    expect(ran).toEqual([]);
    expect(logs.errors).toHaveLength(1);
  });

  it('A function may wait before it calls next, and sees the errors of validation', async () => {
    const seen: unknown[] = [];
    const { calls } = createPair(api, answers, {
      around: (_, next) =>
        from(Promise.resolve()).pipe(
          mergeMap(next),
          catchError((error: unknown) => {
            seen.push(error);
            throw error;
          }),
        ),
    });
    expect(await calls.square.promise({ n: 2 })).toBe(4);
    await expect(calls.book.promise({ seat: 1 as never })).rejects.toMatchObject({ payload: { name: 'INVALID' } });
    expect(seen).toMatchObject([{ payload: { name: 'INVALID' } }]);
  });

  it.each([
    { does: 'returned as it is', around: (_: unknown, next: () => ReturnType<Around>) => next() },
    { does: 'with an operator', around: (_: unknown, next: () => ReturnType<Around>) => next().pipe(map((item) => item)) },
  ])('Every kind of answer passes a function around it, $does', async ({ around }) => {
    const all = contract({
      iterable: stream<void, number>(),
      generator: stream<void, number>(),
      blob: stream<void, unknown>(),
      none: stream<void, number>(),
      later: stream({ payload: later, item: plain<number>() }),
      value: request<void, number[]>(),
      promise: request<void, number>(),
      nothing: request(),
      promised: request(),
      observable: request<void, number>(),
      laterValue: request({ payload: later, reply: plain<number>() }),
      laterPromise: request({ payload: later, reply: plain<number>() }),
    });
    const { calls } = createPair(
      all,
      {
        iterable: () => [1, 2],
        async *generator() {
          yield await Promise.resolve(1);
        },
        blob: () => new Blob([]),
        none: () => undefined as never,
        later: (n) => [n],
        value: () => [1, 2],
        promise: () => Promise.resolve(1),
        nothing: () => undefined,
        promised: () => Promise.resolve(),
        observable: () => of(1, 2),
        laterValue: (n) => n,
        laterPromise: (n) => Promise.resolve(n),
      },
      { around },
    );
    const items = ['iterable', 'generator', 'blob', 'none'] as const;
    const sent = await Promise.all(items.map((name) => lastValueFrom(calls[name]().pipe(toArray()))));
    expect(sent).toEqual([[1, 2], [1], [], []]);
    expect(await lastValueFrom(calls.later(5).pipe(toArray()))).toEqual([5]);
    expect(await Promise.all([calls.value.promise(), calls.promise.promise(), calls.observable.promise()])).toEqual([[1, 2], 1, 1]);
    expect(await Promise.all([calls.nothing.promise(), calls.promised.promise()])).toEqual([null, null]);
    expect(await Promise.all([calls.laterValue.promise(5), calls.laterPromise.promise(6)])).toEqual([5, 6]);
  });

  it.each<{ does: string; around: Around; isPulled: boolean }>([
    { does: 'pulled where a function returns next as it is', around: (_, next) => next(), isPulled: true },
    { does: 'pushed where a function pipes next', around: (_, next) => next().pipe(map((page) => page)), isPulled: false },
  ])('An iterable is $does', async ({ around, isPulled }) => {
    let pulled = 0;
    const pages = function* (): Generator<string> {
      for (; pulled < 100; pulled++) yield 'x'.repeat(65_536);
    };
    const { calls, dialer, link } = createPair(contract({ pages: stream<void, string>() }), { pages }, { around });
    await dialer.opened;
    link.stall('dialer');
    calls.pages().subscribe({ error: () => undefined });
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(pulled > 0).toBe(true);
    expect(pulled < 100).toBe(isPulled);
  });

  it('A cancel unsubscribes the answer through the functions around it', async () => {
    const tick$ = new Subject<number>();
    const ticks = contract({ ticks: stream<void, number>() });
    const { calls, dialer } = createPair(ticks, { ticks: () => tick$ }, { around: (_, next) => defer(next) });
    const subscription = calls.ticks().subscribe();
    await dialer.ping();
    expect(tick$.observed).toBe(true);
    subscription.unsubscribe();
    await dialer.ping();
    expect(tick$.observed).toBe(false);
  });

  it('`answer` takes an overflow for what Observables push, and refuses an unknown one', () => {
    expect(() => answer(api, answers, { overflow: 'latest' })).not.toThrow();
    expect(() => answer(api, answers, { overflow: 'never' as 'latest' })).toThrow(TypeError);
  });
});

it('The rejection of an async `around` that is refused is handled', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const { calls } = createPair(api, answers, { around: (() => Promise.reject(new Error('work'))) as never });
  await expect(calls.now.promise()).rejects.toMatchObject({
    reason: expect.stringMatching(/^around 'now': expected an Observable, got a promise/),
  });
  // Node reports a rejection after the microtasks of a turn.
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
