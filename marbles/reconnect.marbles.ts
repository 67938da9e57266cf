import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { catchError, defer, EMPTY, filter, map, mergeMap, of, shareReplay, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond } from '../src/index.js';
import type { CloseReason, ConnectOptions, Peer } from '../src/index.js';
import { AT_ONCE, dialed } from './support/dialing.js';
import { logged } from './support/logged.js';
import { marbles } from './support/virtual.js';

/** A peer's states as a row: `c` connecting, `o` open, `w` waiting, `d` draining, `x` closed. */
const LETTERS = { connecting: 'c', open: 'o', waiting: 'w', draining: 'd', closed: 'x' } as const;
const life = (peer: Peer): Observable<string> => peer.status$.pipe(map(({ state }) => LETTERS[state]));

/** Why a socket ended or a dial failed. After a capital letter the peer does not dial again. */
const REASONS = { l: [1006, true], L: [1006, false], g: [1000, true], G: [1000, false], P: [1008, false] };
const codes = (reasons$: Observable<CloseReason>): Observable<unknown> => reasons$.pipe(map(({ code, willRetry }) => [code, willRetry]));

interface Row {
  readonly does: string;
  /** When the socket is lost. */
  readonly cut?: string;
  /** When the server sends its goaway, and when this side closes. */
  readonly goaway?: string;
  readonly close?: string;
  /** When a call is made. Its answer never ends by itself. */
  readonly calls: string;
  /** From when to when the server is subscribed to each of its answers. */
  readonly subs1?: string;
  readonly subs2?: string;
  readonly subs3?: string;
  /** The HTTP status that refuses every dial; 0 when no server answers. */
  readonly status?: number;
  readonly dialing?: ConnectOptions;
  readonly expected: string;
  readonly reasons: string;
  /** An `f` for the first failed dial, if another follows. Default: none. */
  readonly warned?: string;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the reconnect helper', () => {
  it.each<Row>([
    {
      does: 'does nothing while the socket lasts',
      calls: '   -c---------------',
      subs1: '   -^               ',
      expected: '(co)-------------',
      reasons: ' -----------------',
    },
    {
      does: 'dials again when the socket is lost',
      cut: '     -----x-----------',
      calls: '   -c------c--------',
      subs1: '   -^---!           ',
      subs2: '   --------^        ',
      expected: '(co)-(wco)-------',
      reasons: ' -----l-----------',
    },
    {
      does: 'dials again after each loss',
      cut: '     -----x-----x-----',
      calls: '   -c------c-----c--',
      subs1: '   -^---!           ',
      subs2: '   --------^--!     ',
      subs3: '   --------------^  ',
      expected: '(co)-(wco)-(wco)-',
      reasons: ' -----l-----l-----',
    },
    {
      does: "dials again after the server's goaway",
      goaway: '  -----x-----------',
      calls: '   -c------c--------',
      subs1: '   -^---!           ',
      subs2: '   --------^        ',
      expected: '(co)-(dwco)------',
      reasons: ' -----g-----------',
    },
    {
      does: 'stops after maxAttempts failures',
      status: 503,
      dialing: { reconnect: { ...AT_ONCE, maxAttempts: 3 } },
      calls: '   c                ',
      expected: '(cwcwcx|)        ',
      reasons: ' (llL|)           ',
      warned: '  f                ',
    },
    {
      does: 'stops after five failures when it has never been connected',
      status: 0,
      calls: '   c                ',
      expected: '(cwcwcwcwcx|)    ',
      reasons: ' (llllL|)         ',
      warned: '  f                ',
    },
    {
      does: 'stops at once after a failure that every dial would meet',
      status: 401,
      calls: '   c                ',
      expected: '(cx|)            ',
      reasons: ' (L|)             ',
    },
    {
      does: 'stops at once when both ends speak different versions',
      status: 400,
      calls: '   c                ',
      expected: '(cx|)            ',
      reasons: ' (P|)             ',
    },
    {
      does: 'obeys shouldRetry against its own rules',
      status: 401,
      dialing: { reconnect: { ...AT_ONCE, shouldRetry: ({ attempt }) => attempt < 3 } },
      calls: '   c                ',
      expected: '(cwcwcx|)        ',
      reasons: ' (llL|)           ',
      warned: '  f                ',
    },
    {
      does: 'stops when this side closes',
      close: '   -----x-----------',
      calls: '   -c------c--------',
      subs1: '   -^---!           ',
      expected: '(co)-(dx|)       ',
      reasons: ' -----(G|)        ',
    },
    {
      does: 'is absent unless asked for',
      cut: '     -----x-----------',
      dialing: { reconnect: false },
      calls: '   -c------c--------',
      subs1: '   -^---!           ',
      expected: '(co)-(x|)        ',
      reasons: ' -----(L|)        ',
    },
    {
      does: 'dials a lazy peer at its first call',
      calls: '   -----c----c------',
      subs1: '   -----^           ',
      subs2: '   ----------^      ',
      dialing: { lazy: true },
      expected: 'c----(co)--------',
      reasons: ' -----------------',
    },
    {
      does: 'counts a failed hello as a failed dial',
      dialing: {
        reconnect: { ...AT_ONCE, maxAttempts: 2 },
        hello: () => {
          throw new Error('no token');
        },
      },
      calls: '   c                ',
      expected: '(cwcx|)          ',
      reasons: ' (gG|)            ',
      warned: '  f                ',
    },
  ])(
    'The reconnect helper $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, row) => {
      const answer$ = cold('-');
      expectObservable(logged('warn')).toBe(row.warned ?? '', {
        f: expect.stringMatching(/^rxmux: a dial failed, and more follow: /),
      });
      const { server, accepted, dial } = dialed((peer) => peer.streams$.pipe(respond(() => answer$)).subscribe());
      server.refuse(row.status ?? null);
      // Dials when the rows begin, so that they show the peer's first states.
      const peer$ = defer(() => of(dial(row.dialing))).pipe(shareReplay({ bufferSize: 1, refCount: false }));
      const answers$ = cold(row.calls).pipe(
        mergeMap(() => peer$),
        mergeMap((peer) => peer.open$('x').pipe(catchError(() => EMPTY))),
      );
      cold(row.cut ?? '').subscribe(() => server.link?.cut());
      cold(row.goaway ?? '').subscribe(() => void accepted().close());
      cold(row.close ?? '')
        .pipe(mergeMap(() => peer$))
        .subscribe((peer) => void peer.close());
      expectObservable(peer$.pipe(mergeMap(life))).toBe(row.expected);
      expectObservable(peer$.pipe(mergeMap(({ closes$ }) => codes(closes$)))).toBe(row.reasons, REASONS);
      expectObservable(answers$).toBe('');
      expectSubscriptions(answer$.subscriptions).toBe([row.subs1, row.subs2, row.subs3].filter((subs) => subs !== undefined));
    }),
  );

  it(
    'A lost socket fails the running calls, and the server unsubscribes their answers',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('--a--b--c');
      const cut$ = cold('   ------x');
      const subs = '        ^-----!';
      const expected = '    --a--b#';
      const { server, dial } = dialed((peer) => peer.streams$.pipe(respond(() => answer$)).subscribe());
      cut$.subscribe(() => server.link?.cut());
      const lost = expect.objectContaining({
        code: 'CONNECTION_LOST',
        retriable: false,
        reason: expect.objectContaining({ willRetry: true }),
      });
      expectObservable(dial().open$('x')).toBe(expected, undefined, lost);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    'Calls made without a connection leave over the next socket, in order, after the hello',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const cut$ = cold('  --------x----');
      const calls$ = cold('---------(ab)');
      const answer$ = cold('-w|');
      const subs1 = '      --^-!';
      const subs2 = '      ----------^-!';
      const subs3 = '      ---------------^-!';
      const subs4 = '      ---------------^-!';
      const arrived = '    --h-------h----(ab)';
      const { server, dial } = dialed((peer) => peer.streams$.pipe(respond(() => answer$)).subscribe(), { latencyMs: 2 });
      const arrived$ = server.peers$.pipe(
        mergeMap((peer) => peer.streams$),
        map(({ payload }) => payload),
      );
      expectObservable(arrived$).toBe(arrived);
      const peer$ = defer(() => of(dial({ hello: () => ({ payload: 'h' }) })));
      cold('x')
        .pipe(
          mergeMap(() => peer$),
          mergeMap((peer) => calls$.pipe(tap((name) => peer.notify(name)))),
        )
        .subscribe();
      cut$.subscribe(() => server.link?.cut());
      expectSubscriptions(answer$.subscriptions).toBe([subs1, subs2, subs3, subs4]);
    }),
  );

  it(
    'A drained socket finishes its calls while new calls go over the replacement',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const long$ = cold('  --a----b----c|');
      const goaway$ = cold('---x');
      const later$ = cold(' -----x');
      const longSubs = '    ^------------!';
      const expected = '    --a----b----c|';
      const connections = ' 1----2';
      const { accepted, dial } = dialed((peer) =>
        peer.streams$.pipe(respond((name) => (name === 'long' ? long$ : of('done')))).subscribe(),
      );
      const peer = dial();
      const opens$ = peer.frames$.pipe(
        mergeMap(({ direction, frame, connection }) => (direction === 'tx' && frame.type === 'open' ? [String(connection)] : [])),
      );
      goaway$.subscribe(() => void accepted().close({ drainMs: 1_000 }));
      later$.subscribe(() => {
        peer.notify('short');
      });
      expectObservable(opens$).toBe(connections);
      expectObservable(peer.open$('long')).toBe(expected);
      expectSubscriptions(long$.subscriptions).toBe(longSubs);
    }),
  );

  it(
    'The reconnect helper waits a random share of a time that doubles with each failure, up to 5 s',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      jest.spyOn(Math, 'random').mockReturnValue(0.5);
      const answer$ = cold('-');
      const dials = `       c 249ms c 499ms c 999ms c 1999ms ${'c 2499ms '.repeat(7)} (c|)`;
      const { server, dial } = dialed((peer) => peer.streams$.pipe(respond(() => answer$)).subscribe());
      expectObservable(logged('warn')).toBe('f', { f: expect.stringMatching(/^rxmux: a dial failed/) });
      server.refuse(503);
      const peer$ = defer(() => of(dial({ reconnect: { maxAttempts: 12 } })));
      expectObservable(
        peer$.pipe(
          mergeMap(life),
          filter((letter) => letter === 'c'),
        ),
      ).toBe(dials);
      expectSubscriptions(answer$.subscriptions).toBe([]);
    }),
  );
});
