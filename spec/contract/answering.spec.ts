import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import {
  catchError,
  concat,
  defer,
  finalize,
  firstValueFrom,
  from,
  lastValueFrom,
  map,
  mergeMap,
  of,
  range,
  Subject,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import { z } from 'zod';
import {
  answer,
  answering,
  channel,
  client,
  contract,
  fail,
  isFailure,
  plain,
  request,
  stream,
  upload,
  whenError,
} from '../../src/contract.js';
import type { Around, StandardSchemaV1 } from '../../src/contract.js';
import { RemoteError } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { connect, refuse, serve } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { THENABLES } from '../support/peer/thenables.js';
import type { Work } from '../support/peer/thenables.js';
import { createPair } from '../support/peer/tracked.js';
import { turn, until } from '../support/socket/leaks.js';
import { answers } from './answers.js';
import { api } from './api.js';

describe('answering', () => {
  const logs = collectLogs();

  const api = contract({ me: request<void, string>(), square: request<number, number>() });
  const pushes = contract({ news: request<{ text: string }>() });
  const one = contract({ one: request<void, number>() });
  const two = contract({ two: request<void, number>() });

  const verify = ({ headers }: IncomingMessage) => {
    if (headers.cookie === undefined) return refuse(429);
    return Promise.resolve({ name: headers.cookie });
  };

  async function urlOf(server: ReturnType<typeof serve>): Promise<string> {
    const address = await server.listening;
    return `ws://127.0.0.1:${typeof address === 'object' ? address.port : address}`;
  }

  describe('answering', () => {
    it('A server answers a contract by one line, and its answers know who called', async () => {
      const server = serve({
        port: 0,
        host: '127.0.0.1',
        ...answering(api, { me: (_, { context }) => context.name, square: (n) => n * n }, { verify }),
      });
      const url = await urlOf(server);
      const peer = connect(url, { headers: { cookie: 'ann' } });
      const calls = client(peer, api);
      expect(await calls.me.promise()).toBe('ann');
      expect(await calls.square.promise(3)).toBe(9);
      const refused = connect(url);
      await expect(client(refused, api).me.promise()).rejects.toMatchObject({ code: 'CONNECT', status: 429 });
      await Promise.all([peer.close(), refused.close(), server.close()]);
      expect(logs.errors).toEqual([]);
    });

    it('A server without verify answers with the context of its options', async () => {
      const server = serve({
        port: 0,
        host: '127.0.0.1',
        context: { user: 'any' },
        ...answering(api, { me: (_, { context }) => JSON.stringify(context), square: (n) => n }),
      });
      const peer = connect(await urlOf(server));
      expect(await client(peer, api).me.promise()).toBe('{"user":"any"}');
      await Promise.all([peer.close(), server.close()]);
    });

    it.each([
      ['joined to one', () => answering(contract({ ...one, ...two }), { one: () => 1, two: () => 2 })],
      [
        'each by its own `onPeer`',
        () => {
          const [first, second] = [answering(one, { one: () => 1 }), answering(two, { two: () => 2 })];
          return {
            onPeer: (peer: Peer) => {
              first.onPeer(peer);
              second.onPeer(peer);
            },
          };
        },
      ],
    ])('A server answers two contracts, %s', async (_how, options) => {
      const server = serve({ port: 0, host: '127.0.0.1', ...options() });
      const peer = connect(await urlOf(server));
      expect([await client(peer, one).one.promise(), await client(peer, two).two.promise()]).toEqual([1, 2]);
      await expect(peer.request(['three'])).rejects.toMatchObject({ payload: { name: 'UNKNOWN', data: [] } });
      await Promise.all([peer.close(), server.close()]);
    });

    it('A client answers pushes of the server', async () => {
      const seen: string[] = [];
      const { dialer, acceptor } = createPair();
      dialer.streams$.pipe(answer(pushes, { news: ({ text }) => void seen.push(text) })).subscribe();
      const push = client(acceptor, pushes);
      await push.news.promise({ text: 'one' });
      push.news.notify({ text: 'two' });
      await acceptor.ping();
      expect(seen).toEqual(['one', 'two']);
      await expect(acceptor.request(['new'])).rejects.toMatchObject({ payload: { name: 'UNKNOWN', data: ['news'] } });
    });
  });

  describe('two versions of a contract', () => {
    const old = contract({ find: request<{ text: string }, { hits: number }>(), feed: stream<void, { id: number }>() });
    const young = contract({
      find: request<{ text: string; limit?: number }, { hits: number; more?: boolean }>(),
      feed: stream<void, { id: number; at?: string }>(),
      count: request<void, number>(),
    });

    it('An older client calls a newer server', async () => {
      const { dialer } = createPair(young, {
        find: ({ text, limit = 9 }) => ({ hits: Math.min(text.length, limit), more: false }),
        feed: () => [{ id: 1, at: 'now' }],
        count: () => 7,
      });
      const calls = client(dialer, old);
      expect(await calls.find.promise({ text: 'abc' })).toMatchObject({ hits: 3 });
      expect(await firstValueFrom(calls.feed())).toMatchObject({ id: 1 });
    });

    it('A newer client calls an older server, and learns that it lacks the new procedure', async () => {
      const { dialer } = createPair(old, { find: ({ text }) => ({ hits: text.length }), feed: () => [{ id: 1 }] });
      const calls = client(dialer, young);
      expect(await calls.find.promise({ text: 'abc', limit: 2 })).toEqual({ hits: 3 });
      expect(await firstValueFrom(calls.feed())).toEqual({ id: 1 });
      await expect(calls.count.promise()).rejects.toMatchObject({ retriable: false, payload: { name: 'UNKNOWN' } });
    });
  });
});

describe('thenables', () => {
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
      await expect(calls.square.promise(7)).rejects.toMatchObject({ payload: { name: 'INTERNAL' } });
      await expect(lastValueFrom(calls.square(7))).rejects.toMatchObject({ payload: { name: 'INTERNAL' } });
      const unchecked = createPair();
      unchecked.acceptor.streams$.pipe(answer(checked, answers, { validate: false })).subscribe();
      const checking = client(unchecked.dialer, checked, { validate: true });
      await expect(checking.square.promise(7)).rejects.toMatchObject(invalid);
      await expect(lastValueFrom(checking.square(7))).rejects.toMatchObject(invalid);
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
});

describe('around', () => {
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

    it.each<[string, (page: () => string | undefined) => AsyncIterable<string> | ReadableStream<string>]>([
      [
        'An async generator',
        async function* (page) {
          for (let made = page(); made !== undefined; made = page()) yield Promise.resolve(made);
        },
      ],
      [
        'A ReadableStream',
        (page) =>
          new ReadableStream({
            pull(controller) {
              const made = page();
              if (made === undefined) controller.close();
              else controller.enqueue(made);
            },
          }),
      ],
    ])('%s behind an operator is read while the queue has room', async (_what, pagesOf) => {
      let made = 0;
      const pages = () => pagesOf(() => (made === 100 ? undefined : `${made++}`.padEnd(65_536, 'x')));
      const around: Around = (_, next) => next().pipe(map((page) => page));
      const { calls, dialer, link } = createPair(contract({ pages: stream<void, string>() }), { pages }, { around });
      await dialer.opened;
      link.stall('dialer');
      const numbers = lastValueFrom(
        calls.pages().pipe(
          map((page) => parseInt(page, 10)),
          toArray(),
        ),
      );
      numbers.catch(() => undefined);
      await until('the first page', () => made > 0);
      for (let turns = 0; turns < 50; turns++) await turn();
      expect(made).toBeLessThan(100);
      link.resume('dialer');
      expect(await numbers).toEqual(Array.from({ length: 100 }, (_, number) => number));
    });

    it.each<{ behind: string; around?: Around }>([
      { behind: 'without a function around it' },
      { behind: 'where a function returns next as it is', around: (_, next) => next() },
      { behind: 'where a function pipes next', around: (_, next) => next().pipe(map((item) => item)) },
    ])('An item that is undefined fails its call, $behind', async ({ around }) => {
      const got: number[] = [];
      const { calls } = createPair(contract({ items: stream<void, number>() }), { items: () => [1, undefined as never, 2] }, { around });
      await expect(lastValueFrom(calls.items().pipe(tap((item) => got.push(item))))).rejects.toMatchObject({
        code: 'REMOTE',
        reason: 'expected a value to send, got undefined; null is a value',
      });
      expect(got).toEqual([1]);
    });

    it('A cancel ends an async iterable behind an operator that waits for its next item', async () => {
      const ended: string[] = [];
      const items: AsyncIterable<number> = {
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise<never>(() => undefined),
          return: () => {
            ended.push('returned');
            return Promise.resolve({ done: true, value: undefined });
          },
        }),
      };
      const around: Around = (_, next) => next().pipe(map((item) => item));
      const { calls, dialer } = createPair(contract({ items: stream<void, number>() }), { items: () => items }, { around });
      const subscription = calls.items().subscribe();
      await dialer.ping();
      subscription.unsubscribe();
      await dialer.ping();
      expect(ended).toEqual(['returned']);
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

    it.each([
      { payload: 'plain', schema: plain<number>() },
      { payload: 'checked by a schema that needs time', schema: z.number().refine(() => Promise.resolve(true)) },
    ])('The overflow holds for what an Observable pushes, also where the payload is $payload', async ({ schema }) => {
      const pages = contract({ pages: stream({ payload: schema, item: plain<string>() }) });
      const { calls } = createPair(
        pages,
        { pages: (count) => range(0, count).pipe(map((page) => String(page).padEnd(10_000))) },
        { overflow: 'latest' },
      );
      const got = await lastValueFrom(calls.pages(1_000).pipe(toArray()));
      expect(got.length).toBeLessThan(1_000);
      expect(got.at(-1)).toBe('999'.padEnd(10_000));
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
});

describe('declared errors', () => {
  const logs = collectLogs();

  const TAKEN = { code: 'REMOTE', retriable: false, payload: { name: 'TAKEN', message: 'TAKEN', data: { by: 'ann' } } };

  it('A declared error reaches the caller with its data, and no log shows it', async () => {
    const { calls } = createPair(api, answers);
    await expect(calls.book.promise({ seat: '12A' })).rejects.toMatchObject(TAKEN);
    await expect(calls.book.promise({ seat: '13A' })).rejects.toMatchObject({ payload: { name: 'CLOSED', message: 'CLOSED' } });
    expect(logs).toEqual({ warnings: [], errors: [] });
  });

  it('A declared error passes an error serializer as it is, and other errors do not', async () => {
    const { calls } = createPair(
      api,
      {
        ...answers,
        now: () => {
          throw new Error('secret');
        },
        square: () => {
          throw new RemoteError('secret', { name: 'secret' });
        },
      },
      { acceptor: { errorSerializer: () => ({ message: 'try later' }), onError: () => undefined } },
    );
    await expect(calls.book.promise({ seat: '12A' })).rejects.toMatchObject(TAKEN);
    await expect(calls.now.promise()).rejects.toMatchObject({ reason: 'try later', payload: { message: 'try later' } });
    await expect(calls.square.promise({ n: 1 })).rejects.toMatchObject({ reason: 'try later', payload: { message: 'try later' } });
  });

  it('A declared error of an Observable arrives after the items before it', async () => {
    const ticks = contract({ ticks: stream<void, number, { OVER: { after: number } }>() });
    const { calls } = createPair(ticks, {
      ticks: () =>
        concat(
          of(1, 2),
          throwError(() => fail(ticks.ticks, 'OVER', { after: 2 })),
        ),
    });
    const seen$ = calls.ticks().pipe(
      whenError(ticks.ticks, 'OVER', ({ after }) => of(after * 10)),
      toArray(),
    );
    expect(await lastValueFrom(seen$)).toEqual([1, 2, 20]);
  });

  it('An error of a second copy of the package is a declared error, too', () => {
    const ofAnotherCopy = Object.assign(new Error('TAKEN'), { code: 'REMOTE', retriable: false, payload: TAKEN.payload });
    expect(isFailure(api.book, 'TAKEN', ofAnotherCopy)).toBe(true);
    expect(isFailure(api.book, 'CLOSED', ofAnotherCopy)).toBe(false);
    expect(isFailure(api.book, 'TAKEN', Object.assign(new Error('TAKEN'), { payload: TAKEN.payload }))).toBe(false);
  });

  it('`whenError` catches the error of its name and no other', async () => {
    const { calls } = createPair(api, answers);
    const booking = (seat: string) => calls.book({ seat }).pipe(whenError(api.book, 'TAKEN', ({ by }) => of(`taken by ${by}`)));
    expect(await firstValueFrom(booking('1A'))).toEqual({ seat: '1A', price: 40 });
    expect(await firstValueFrom(booking('12A'))).toBe('taken by ann');
    await expect(firstValueFrom(booking('13A'))).rejects.toMatchObject({ payload: { name: 'CLOSED' } });
    const invalid$ = booking(12 as never).pipe(whenError(api.book, 'INVALID', ([issue]) => of(issue?.path)));
    expect(await firstValueFrom(invalid$)).toEqual(['seat']);
  });

  it('`whenError` and `isFailure` leave errors that no contract made', async () => {
    const errors = [null, 'TAKEN', new Error('TAKEN'), { payload: { name: 'TAKEN' } }, new RemoteError('TAKEN', 'TAKEN')];
    expect(errors.map((error) => isFailure(api.book, 'TAKEN', error))).toEqual(errors.map(() => false));
    const error = new Error('TAKEN');
    const failed$ = throwError(() => error).pipe(whenError(api.book, 'TAKEN', () => of(1)));
    await expect(firstValueFrom(failed$)).rejects.toBe(error);
  });

  it('`isFailure` finds a declared error of a promise', async () => {
    const { calls } = createPair(api, answers);
    const error = await calls.book.promise({ seat: '12A' }).catch((thrown: unknown) => thrown);
    expect(isFailure(api.book, 'TAKEN', error) && error.payload.data.by).toBe('ann');
    expect(isFailure(api.book, 'CLOSED', error)).toBe(false);
  });

  it.each<[what: string, thrown: unknown, serializer: ((error: unknown) => unknown) | undefined]>([
    ['an error of that name', Object.assign(new Error('no user'), { name: 'TAKEN' }), undefined],
    ['an error of that name without a message', Object.assign(new Error(), { name: 'CLOSED' }), undefined],
    ['an error of that name with data of its own', Object.assign(new Error('x'), { name: 'TAKEN', data: { by: 'orm' } }), undefined],
    [
      'an error of that name behind a serializer',
      Object.assign(new Error('x'), { name: 'CLOSED' }),
      (error) => ({ name: (error as Error).name, message: (error as Error).name }),
    ],
  ])('Only `fail` makes a declared error: not %s', async (_what, thrown, errorSerializer) => {
    const one = () => {
      throw thrown;
    };
    const { calls } = createPair(
      api,
      { ...answers, book: one },
      { acceptor: { errorSerializer: errorSerializer as never, onError: () => undefined } },
    );
    const error = await calls.book.promise({ seat: '1A' }).catch((failed: unknown) => failed);
    expect(error).toMatchObject({ code: 'REMOTE', payload: { name: (thrown as Error).name } });
    expect(isFailure(api.book, 'TAKEN', error) || isFailure(api.book, 'CLOSED', error)).toBe(false);
  });

  it('A declared error of an older peer, which sends no mark, is understood', () => {
    const sent = (payload: unknown) => new RemoteError('TAKEN', payload);
    expect(isFailure(api.book, 'TAKEN', sent({ name: 'TAKEN', message: 'TAKEN', data: { by: 'ann' } }))).toBe(true);
    expect(isFailure(api.book, 'CLOSED', sent({ name: 'CLOSED', message: 'CLOSED' }))).toBe(true);
    expect(isFailure(api.book, 'INVALID', sent({ name: 'INVALID', message: 'n is no number', data: [] }))).toBe(true);
  });

  it('A declared error whose data the codec refuses keeps its name and message', async () => {
    const odd = contract({ odd: request<void, void, { ODD: { n: bigint } }>() });
    const { calls } = createPair(odd, {
      odd: () => {
        throw fail(odd.odd, 'ODD', { n: 1n } as never);
      },
    });
    const error = await calls.odd.promise().catch((failed: unknown) => failed);
    expect(error).toMatchObject({ reason: 'ODD', payload: { name: 'ODD', message: 'ODD', declared: true } });
    expect(isFailure(odd.odd, 'ODD', error)).toBe(true);
    expect(logs.warnings).toEqual([
      expect.stringMatching(/the payload of a reset cannot be sent, and the reset goes with its name and message alone/),
    ]);
  });

  it.each<readonly [what: string, thrown: unknown, message: string]>([
    ['a plain object', { status: 4 }, 'unknown error: throw an Error'],
    ['a plain object with a message', { message: 'no such seat' }, 'no such seat'],
    ['a plain object with a code', { code: 'E_SEAT' }, 'E_SEAT'],
    ['nothing', undefined, 'unknown error: throw an Error'],
    ['a function', () => 's3cret', 'unknown error: throw an Error'],
    ['a text', 'nope', 'nope'],
  ])('A thrown value arrives as an error with a message: %s', async (_what, thrown, message) => {
    const one = () => {
      throw thrown;
    };
    const { calls } = createPair(api, { ...answers, now: one });
    await expect(calls.now.promise()).rejects.toMatchObject({ reason: message, payload: { name: 'Error', message } });
    expect(logs.errors).toHaveLength(1);
  });
});
