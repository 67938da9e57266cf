import { getEventListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { dehydrate, hydrate, MutationObserver, QueryClient, QueryObserver } from '@tanstack/query-core';
import { concat, defer, filter, from, lastValueFrom, map, NEVER, Observable, of, Subject, toArray } from 'rxjs';
import { answer, channel, contract, fail, request, stream, upload } from '../../src/contract.js';
import { ResetCode } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { queries } from '../../src/tanstack.js';
import { AT_ONCE, dialed } from '../../marbles/support/dialing.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { until } from '../support/socket/leaks.js';

collectLogs();

const api = contract({
  search: request<{ term: string }, readonly string[], { BUSY: void }>(),
  now: request<void, number>(),
  log: { lines: stream<{ since: number }, string>() },
  store: upload<{ name: string }, number, number>(),
  chat: channel<void, string, string>(),
});

const OTHERS = { now: () => 5, chat: () => NEVER, store: () => 0, log: { lines: () => NEVER }, search: () => [] as string[] };

/** A client that keeps nothing alive after a test. */
const cache = (): QueryClient => new QueryClient({ defaultOptions: { queries: { gcTime: Infinity, retryDelay: 1 } } });

describe('queries of TanStack', () => {
  it('A query makes its call once, and its data are the reply', async () => {
    const asked: string[] = [];
    const { dialer } = createPair(api, { ...OTHERS, search: ({ term }) => [`${term}${asked.push(term)}`] });
    const q = queries(dialer, api);
    const client = cache();
    expect(await client.query({ ...q.search.queryOptions({ term: 'a' }), staleTime: Infinity })).toEqual(['a1']);
    expect(await client.query({ ...q.search.queryOptions({ term: 'a' }), staleTime: Infinity })).toEqual(['a1']);
    expect(await client.query(q.now.queryOptions())).toBe(5);
    const data: readonly string[] | undefined = client.getQueryData(q.search.queryOptions({ term: 'a' }).queryKey);
    expect(data).toEqual(['a1']);
    await client.invalidateQueries({ queryKey: q.search.queryKey() });
    expect(client.getQueryState(q.search.queryKey({ term: 'a' }))?.isInvalidated).toBe(true);
  });

  it('A query that nothing reads any more cancels its call on the server', async () => {
    let [begun, open] = [0, 0];
    const { dialer } = createPair(api, {
      ...OTHERS,
      search: () =>
        new Observable<string[]>((subscriber) => {
          begun++;
          open++;
          subscriber.add(() => open--);
        }),
    });
    const leave = new QueryObserver(cache(), queries(dialer, api).search.queryOptions({ term: 'a' })).subscribe(() => undefined);
    await until('a call', () => begun === 1);
    leave();
    await until('no call', () => open === 0);
  });

  it('A query asks once for an answer that is a declared error', async () => {
    let asked = 0;
    const { dialer } = createPair(api, {
      ...OTHERS,
      search: () => {
        asked++;
        throw fail(api.search, 'BUSY');
      },
    });
    await expect(cache().query(queries(dialer, api).search.queryOptions({ term: 'a' }))).rejects.toMatchObject({ reason: 'BUSY' });
    // `query` retries nothing by itself, so ask as an observer does.
    const observer = new QueryObserver(cache(), queries(dialer, api).search.queryOptions({ term: 'a' }));
    const leave = observer.subscribe(() => undefined);
    await until('an error', () => observer.getCurrentResult().isError);
    leave();
    expect(asked).toBe(2);
  });

  it('A mutation sends its variables, and an upload its input', async () => {
    const { dialer } = createPair(api, {
      ...OTHERS,
      search: ({ term }) => [term],
      store: (_, { input }) =>
        lastValueFrom(
          input.pipe(
            toArray(),
            map((numbers) => numbers.length),
          ),
        ),
    });
    const q = queries(dialer, api);
    expect(await new MutationObserver(cache(), q.search.mutationOptions()).mutate({ term: 'a' })).toEqual(['a']);
    expect(await new MutationObserver(cache(), q.store.mutationOptions()).mutate({ payload: { name: 'n' }, input: [1, 2, 3] })).toBe(3);
  });
});

describe('the keys of TanStack', () => {
  it('Two peers of one contract share no data with a `keyPrefix` of their own', async () => {
    const queriesTo = (hit: string) => queries(createPair(api, { ...OTHERS, search: () => [hit] }).dialer, api, { keyPrefix: hit });
    const shared = cache();
    const hits = ['one', 'other'].map((hit) => shared.query({ ...queriesTo(hit).search.queryOptions({ term: 'a' }), staleTime: Infinity }));
    expect(await Promise.all(hits)).toEqual([['one'], ['other']]);
    const { search, log } = queriesTo('one');
    expect(search.queryKey()).toEqual(['one', 'search']);
    expect(log.lines.queryKey({ since: 0 })).toEqual(['one', 'log.lines', { since: 0 }]);
  });

  it('Keys begin with rxmux by default, and with no other value than text', () => {
    const { dialer } = createPair(api, OTHERS);
    expect(queries(dialer, api).search.queryKey()).toEqual(['rxmux', 'search']);
    expect(() => queries(dialer, api, { keyPrefix: 7 } as object)).toThrow('keyPrefix: expected text, got 7');
  });
});

describe('mutationOptions of TanStack', () => {
  it('A query refuses a signal, because it has its own', () => {
    const q = queries(createPair(api, OTHERS).dialer, api);
    const options: object = { signal: new AbortController().signal };
    expect(() => q.search.queryOptions({ term: 'a' }, options)).toThrow("got 'signal'");
    expect(() => q.log.lines.streamedOptions({ since: 0 }, options)).toThrow("got 'signal'");
  });

  it('A mutation passes its options on, of a request and of an upload', async () => {
    const { dialer } = createPair(api, { ...OTHERS, search: () => NEVER, store: () => NEVER });
    const q = queries(dialer, api);
    // Not a short time-out: the other side knows it, and its reset may come first.
    const options = { signal: AbortSignal.abort() };
    const booked = new MutationObserver(cache(), q.search.mutationOptions(options)).mutate({ term: 'a' });
    await expect(booked).rejects.toMatchObject({ code: 'CANCELLED' });
    const stored = new MutationObserver(cache(), q.store.mutationOptions(options)).mutate({ payload: { name: 'n' }, input: [1] });
    await expect(Promise.race([stored, setTimeout(5_000, 'waits')])).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

describe('streamedOptions of TanStack', () => {
  /** A server whose streams emit what `lines` returns for each stream, and a peer that dials again. */
  function served(lines: (since: number, nth: number) => Observable<string> | 'refuse') {
    let nth = 0;
    const { dial, server } = dialed((accepted: Peer) => {
      const answers = { ...OTHERS, log: { lines: ({ since }: { since: number }) => lines(since, nth) as Observable<string> } };
      accepted.streams$
        .pipe(
          filter((stream) => {
            const isRefused = lines(0, ++nth) === 'refuse';
            if (isRefused) stream.reset(ResetCode.REFUSED, 'busy');
            return !isRefused;
          }),
          answer(api, answers),
        )
        .subscribe();
    });
    const peer = dial({ reconnect: { ...AT_ONCE, maxAttempts: Infinity } });
    return { peer, server, q: queries(peer, api) };
  }

  function read<T>(client: QueryClient, options: { readonly queryKey: readonly unknown[]; readonly staleTime?: number }) {
    const seen: (readonly T[] | undefined)[] = [];
    const observer = new QueryObserver<readonly T[]>(client, options);
    const leave = observer.subscribe(({ data }) => seen.push(data));
    return { observer, seen, leave, data: () => observer.getCurrentResult().data };
  }

  it('A streamed query shows each value so far, and resolves with all', async () => {
    const { peer, q } = served(() => of('a', 'b'));
    const client = cache();
    const { observer, leave } = read<string>(client, q.log.lines.streamedOptions({ since: 0 }));
    await until('success', () => observer.getCurrentResult().fetchStatus === 'idle');
    expect(observer.getCurrentResult()).toMatchObject({ status: 'success', data: ['a', 'b'] });
    leave();
    await peer.close();
  });

  it('A streamed query keeps its values while the peer reconnects, and the next stream takes their place', async () => {
    const { peer, server, q } = served((_, nth) => concat(of(`a${nth}`, `b${nth}`), NEVER));
    const { seen, leave, data } = read<string>(cache(), q.log.lines.streamedOptions({ since: 0 }));
    await until('two values', () => data()?.length === 2);
    server.link?.cut();
    await until('the values of the second socket', () => data()?.[1] === 'b2');
    leave();
    const after = seen.slice(seen.findIndex((values) => values?.length === 2));
    expect(after.some((values) => values === undefined || values.length === 0)).toBe(false);
    expect(data()).toEqual(['a2', 'b2']);
    await peer.close();
  });

  it('A streamed query with `resume` continues where it was', async () => {
    const asked: number[] = [];
    const lines = (since: number, nth: number): Observable<string> =>
      defer(() => {
        asked.push(since);
        return concat(from(nth === 1 ? ['a', 'b'] : ['a', 'b', 'c'].slice(since)), NEVER);
      });
    const { peer, server, q } = served(lines);
    const { leave, data } = read<string>(
      cache(),
      q.log.lines.streamedOptions({ since: 0 }, { resume: (lines) => ({ since: lines.length }) }),
    );
    await until('two values', () => data()?.length === 2);
    server.link?.cut();
    await until('three values', () => data()?.length === 3);
    expect(data()).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual([0, 2]);
    leave();
    await peer.close();
  });

  it('A streamed query with `resume` continues after null', async () => {
    const api = contract({ levels: stream<{ since: number | null }, number | null>() });
    const { dialer } = createPair(api, { levels: ({ since }) => [since === null ? 7 : null] });
    const reduced: unknown[] = [];
    const reducer = (data: number | null, level: number | null): number | null => {
      reduced.push([data, level]);
      return level;
    };
    const options = queries(dialer, api).levels.streamedOptions(
      { since: 5 },
      { initialValue: 5, reducer, resume: (since: number | null) => ({ since }) },
    );
    const client = cache();
    await client.query(options);
    await client.query({ ...options, staleTime: 0 });
    expect(reduced).toEqual([
      [5, null],
      [null, 7],
    ]);
  });

  it('A streamed query keeps its values over a retry of TanStack', async () => {
    const { peer, server, q } = served((_, nth) => (nth === 2 ? 'refuse' : concat(of(`a${nth}`), NEVER)));
    const { seen, observer, leave, data } = read<string>(cache(), q.log.lines.streamedOptions({ since: 0 }));
    await until('the first value', () => data()?.[0] === 'a1');
    server.link?.cut();
    await until('the second try', () => data()?.[0] === 'a3');
    expect(seen.slice(seen.findIndex((values) => values !== undefined))).not.toContain(undefined);
    expect(observer.getCurrentResult().isError).toBe(false);
    leave();
    await peer.close();
  });

  it('A streamed query leaves no listener on its signal with a try that has failed', async () => {
    const { peer, q } = served(() => 'refuse');
    const { queryFn, queryKey } = q.log.lines.streamedOptions({ since: 0 });
    const { signal } = new AbortController();
    await expect(queryFn({ client: cache(), queryKey, signal })).rejects.toMatchObject({ code: 'REFUSED' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await peer.close();
  });

  it('A streamed query that nothing reads any more cancels its stream, and keeps its values', async () => {
    const source$ = new Subject<string>();
    const { peer, q } = served(() => source$);
    const client = cache();
    const options = q.log.lines.streamedOptions({ since: 0 });
    const { leave, data } = read<string>(client, options);
    await until('a stream', () => source$.observed);
    source$.next('a');
    await until('a value', () => data()?.length === 1);
    leave();
    await until('no stream', () => !source$.observed);
    expect(client.getQueryData(options.queryKey)).toEqual(['a']);
    await peer.close();
  });

  it('A streamed query opens its stream again for a reader that comes after the last one has left', async () => {
    const { peer, q } = served((_, nth) => concat(of(`a${nth}`), NEVER));
    const client = cache();
    const options = q.log.lines.streamedOptions({ since: 0 });
    const first = read<string>(client, options);
    await until('a value', () => first.data()?.[0] === 'a1');
    first.leave();
    const second = read<string>(client, options);
    expect(second.data()).toEqual(['a1']);
    await until('a value of the second stream', () => second.data()?.[0] === 'a2');
    const third = read<string>(client, options);
    expect(third.observer.getCurrentResult()).toMatchObject({ data: ['a2'], isStale: false });
    second.leave();
    third.leave();
    await peer.close();
  });

  it('A streamed query that has completed is never stale: a later reader opens no stream', async () => {
    const { peer, q } = served((_, nth) => of(`a${nth}`));
    const client = cache();
    const options = q.log.lines.streamedOptions({ since: 0 });
    const first = read<string>(client, options);
    await until('success', () => first.observer.getCurrentResult().fetchStatus === 'idle');
    first.leave();
    const second = read<string>(client, options);
    expect(second.observer.getCurrentResult()).toMatchObject({ data: ['a1'], fetchStatus: 'idle', isStale: false });
    second.leave();
    await peer.close();
  });

  it.each([
    [Infinity, false],
    [0, true],
  ])('A streamed query over restored data with the `staleTime` %s opens its stream: %s', async (staleTime, opens) => {
    const { peer, q } = served((_, nth) => concat(of(`a${nth}`), NEVER));
    const client = cache();
    const options = q.log.lines.streamedOptions({ since: 0 });
    const before = read<string>(client, options);
    await until('a value', () => before.data()?.[0] === 'a1');
    const restored = cache();
    hydrate(restored, dehydrate(client));
    before.leave();
    const after = read<string>(restored, { ...options, staleTime });
    expect(after.observer.getCurrentResult()).toMatchObject({ data: ['a1'], isFetching: opens });
    if (opens) await until('a value of the second stream', () => after.data()?.[0] === 'a2');
    after.leave();
    await peer.close();
  });

  it('A streamed query takes a reducer', async () => {
    const { peer, q } = served(() => of('a', 'b', 'c'));
    const options = q.log.lines.streamedOptions({ since: 0 }, { reducer: (_: string, line) => line, initialValue: '' });
    expect(await cache().query(options)).toBe('c');
    await peer.close();
  });

  it('A reducer that throws fails the query', async () => {
    const { peer, q } = served(() => of('a'));
    const reducer = (): string => {
      throw new Error('no reducer');
    };
    await expect(cache().query(q.log.lines.streamedOptions({ since: 0 }, { reducer, initialValue: '' }))).rejects.toThrow('no reducer');
    await peer.close();
  });

  it('A streamed query that is cancelled while its peer has no socket ends at once', async () => {
    const { peer, server, q } = served(() => NEVER);
    const leaving = new AbortController();
    const { queryFn, queryKey } = q.log.lines.streamedOptions({ since: 0 });
    const seen: string[] = [];
    const reading = queryFn({ client: cache(), queryKey, signal: leaving.signal }).catch(() => seen.push('cancelled'));
    await peer.opened;
    peer.status$.subscribe(({ state }) => {
      seen.push(state);
      if (state === 'waiting') leaving.abort();
    });
    server.link?.cut();
    await reading;
    expect(seen).toEqual(['open', 'waiting', 'cancelled']);
    await peer.close();
  });
});
