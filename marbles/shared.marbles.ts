import { describe, expect, it } from '@jest/globals';
import { map, mergeMap, Observable, of, retry, Subject, throwError, timer } from 'rxjs';
import { client, contract, shared, stream } from '../src/contract.js';
import type { SharedOptions } from '../src/contract.js';
import { respond } from '../src/index.js';
import type { Peer } from '../src/index.js';
import { collectLogs } from '../spec/support/peer/logs.js';
import { createPair } from '../spec/support/peer/tracked.js';
import { until } from '../spec/support/socket/leaks.js';
import { AT_ONCE, dialed } from './support/dialing.js';
import { marbles } from './support/virtual.js';

collectLogs();

interface Row {
  readonly does: string;
  readonly keep?: number;
  readonly source: string;
  /** Subscriptions to the source. */
  readonly subs: readonly string[];
  /** Each subscriber: when it comes, when it leaves, and what it gets. */
  readonly readers: readonly (readonly [at: string, expected: string])[];
}

describe('shared', () => {
  it.each<Row>([
    {
      does: 'opens nothing before the first subscriber',
      source: '-a-b',
      subs: [],
      readers: [],
    },
    {
      does: 'passes one stream to two subscribers, and the last value to the late one at once',
      source: '      -a---b--c--',
      subs: ['       ^----------'],
      readers: [
        ['       ^----------', '-a---b--c--'],
        ['       ---^-------', '---a-b--c--'],
      ],
    },
    {
      does: 'ends the stream a moment after the last subscriber has left, not before',
      keep: 3,
      source: '      -a---b---c---',
      subs: ['       ^--------!   '],
      readers: [
        ['       ^---!        ', '-a--         '],
        ['       --^---!      ', '--a--b       '],
      ],
    },
    {
      does: 'keeps the stream for a subscriber that comes within the moment',
      keep: 3,
      source: '      -a----b---c---',
      subs: ['       ^-----------! '],
      readers: [
        ['       ^--!          ', '-a-          '],
        ['       -----^---!    ', '-----ab--    '],
      ],
    },
    {
      does: 'opens a new stream for a subscriber that comes after the moment',
      keep: 2,
      source: '      -a-------',
      subs: ['       ^--!     ', '-----^---'],
      readers: [
        ['       ^!       ', '-        '],
        ['       -----^---', '------a--'],
      ],
    },
    {
      does: 'with keep 0 ends the stream with its last subscriber',
      keep: 0,
      source: '      -a-------',
      subs: ['       ^--!     ', '---^-----'],
      readers: [
        ['       ^--!     ', '-a-      '],
        ['       ---^-----', '----a----'],
      ],
    },
    {
      does: 'with keep Infinity leaves the stream open',
      keep: Infinity,
      source: '      -a-----b-----',
      subs: ['       ^------------'],
      readers: [
        ['       ^--!         ', '-a-          '],
        ['       ----------^--', '----------b--'],
      ],
    },
    {
      does: 'replays the last value and the completion for the moment, and then opens anew',
      keep: 4,
      source: '      -a-b|       ',
      subs: ['       ^---!       ', '----------^---!'],
      readers: [
        ['       ^-----------', '-a-b|       '],
        ['       ------^-----', '------(b|)  '],
        ['       ----------^-----', '-----------a-b|'],
      ],
    },
    {
      does: 'passes an error to all subscribers, and opens anew for the next at once',
      keep: 4,
      source: '      -a-#      ',
      subs: ['       ^--!      ', '-----^--!  '],
      readers: [
        ['       ^---------', '-a-#      '],
        ['       --^-------', '--a#      '],
        ['       -----^----', '------a-# '],
      ],
    },
  ])(
    '`shared` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { keep, source, subs, readers }) => {
      const source$ = cold(source);
      const of$ = shared(() => source$, keep === undefined ? {} : { keep });
      for (const [at, expected] of readers) expectObservable(of$(), at.trim()).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe([...subs]);
    }),
  );

  it(
    '`shared` has one stream for equal payloads, whatever the order of their keys, and others for others',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-x');
      const price = shared<[{ a: number; b?: Date }], string>(() => source$);
      expectObservable(price({ a: 1, b: new Date(5) }), '^--!').toBe('-x--');
      expectObservable(price({ b: new Date(5), a: 1 }), '^---!').toBe('-x--');
      expectObservable(price({ a: 2 }), '^--!').toBe('-x--');
      expectSubscriptions(source$.subscriptions).toBe(['^ 1003ms !', '^ 1002ms !']);
    }),
  );

  it(
    '`shared` opens anew for a subscriber that subscribes again while it hears of the error',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a#');
      const of$ = shared(() => source$);
      expectObservable(of$().pipe(retry(1))).toBe('-a-a#');
      expectSubscriptions(source$.subscriptions).toBe(['^-!', '--^-!']);
    }),
  );

  it(
    '`shared` passes what `open` throws, and calls it again for the next subscriber',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      let calls = 0;
      const source$ = cold('a|');
      const of$ = shared(() => {
        if (++calls === 1) throw new RangeError('no');
        return source$;
      });
      expectObservable(of$()).toBe('#', {}, new RangeError('no'));
      expectObservable(timer(2).pipe(mergeMap(() => of$()))).toBe('--a|');
      expectSubscriptions(source$.subscriptions).toBe('--^!');
    }),
  );
});

describe('shared calls of a contract', () => {
  const api = contract({ price: stream<{ symbol: string }, string>() });

  it('`shared` opens one stream at the server for many subscribers, and the server sees it end', async () => {
    let [begun, open] = [0, 0];
    const price$ = new Subject<string>();
    const { dialer } = createPair(api, {
      price: () => {
        begun++;
        open++;
        return price$.pipe((source$) => counted(source$, () => open--));
      },
    });
    const price = shared(client(dialer, api).price, { keep: 0 });
    const readers = Array.from({ length: 20 }, () => price({ symbol: 'ACME' }).subscribe());
    await dialer.ping();
    expect([begun, open]).toEqual([1, 1]);
    for (const reader of readers) reader.unsubscribe();
    await dialer.ping();
    expect([begun, open]).toEqual([1, 0]);
  });

  it('`shared` with a peer opens one stream on each socket, also after a goaway, for all its subscribers', async () => {
    const opened: number[] = [];
    const price$ = new Subject<string>();
    const sockets: Peer[] = [];
    const { dial, server } = dialed((accepted) => {
      const nth = sockets.push(accepted);
      const answer = (): Observable<string> => {
        opened.push(nth);
        return price$.pipe(map((price) => `${price}${nth}`));
      };
      accepted.streams$.pipe(respond(answer)).subscribe();
    });
    const peer = dial({ reconnect: { ...AT_ONCE, maxAttempts: Infinity } });
    const price = shared(() => peer.open$<string>('price'), { peer, keep: 0 });
    const got: string[][] = [[], []];
    const reading = got.map((list) => price().subscribe((value) => list.push(value)));
    const streams = (many: number): Promise<void> => until(`stream ${many}`, () => opened.length === many);
    await streams(1);
    price$.next('a');
    await peer.ping();
    server.link?.cut();
    await streams(2);
    price$.next('b');
    await peer.ping();
    void sockets[1]?.close({ drainMs: 500 });
    await streams(3);
    price$.next('c');
    await until('the third value', () => got[1]?.includes('c3') === true);
    for (const one of reading) one.unsubscribe();
    expect(opened).toEqual([1, 2, 3]);
    expect(got[1]).toEqual(got[0]);
    expect(got[0]).toEqual(['a1', 'b2', 'c3']);
    await peer.close();
  });
});

describe('the options of shared', () => {
  const price = (): Observable<number> => of(1);

  it.each<[string, () => unknown, string]>([
    ['a call in the place of a function', () => shared(price() as never), 'shared: expected a function, got an object'],
    ['a misspelt option', () => shared(price, { keeps: 1 } as SharedOptions), "shared: no 'keeps'; did you mean 'keep'?"],
    ['a negative time', () => shared(price, { keep: -1 }), 'shared.keep: expected a number of at least 0, got -1'],
    ['an object that is no peer', () => shared(price, { peer: {} as never }), 'shared.peer: expected a Peer, got an object'],
    ['a number for options', () => shared(price, 5 as SharedOptions), 'shared: expected { keep, peer }, got 5'],
  ])('`shared` refuses %s', (_, act, says) => {
    expect(act).toThrow(new TypeError(says));
  });

  it('`shared` passes an error that its source throws once to each subscriber', () => {
    const failing = shared(() => throwError(() => new Error('no')));
    const errors: unknown[] = [];
    for (let nth = 0; nth < 2; nth++) failing().subscribe({ error: (error) => errors.push(error) });
    expect(errors).toHaveLength(2);
  });
});

/** Calls back when a subscription ends. */
function counted<T>(source$: Observable<T>, ended: () => void): Observable<T> {
  return new Observable((subscriber) => {
    subscriber.add(ended);
    return source$.subscribe(subscriber);
  });
}
