import { describe, expect, it } from '@jest/globals';
import { concat, defer, from, mergeMap, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { reopenOnReconnect, respond } from '../src/index.js';
import type { ConnectOptions, Peer, Retry } from '../src/index.js';
import { dialed } from './support/dialing.js';
import type { Dialed } from './support/dialing.js';
import { marbles } from './support/virtual.js';
import { collectLogs } from '../spec/support/peer/logs.js';

interface Row {
  readonly does: string;
  /** Events on the server: the letters are entries of its log. */
  readonly log: string;
  /** When the server's subscriptions to its log begin and end. */
  readonly subs1: string;
  readonly subs2?: string;
  readonly subs3?: string;
  /** When the socket is lost. */
  readonly cut?: string;
  /** When the server sends its goaway; the digit is the time in ms that it leaves its streams. */
  readonly goaway?: string;
  /** When this side closes. */
  readonly close?: string;
  readonly expected: string;
  readonly error?: unknown;
  readonly unsub?: string;
  readonly dialing?: ConnectOptions;
  readonly latencyMs?: number;
}

interface Restart {
  readonly does: string;
  readonly retry: false | Retry;
  readonly subs: string[];
  readonly expected: string;
}

interface LogServerOptions {
  readonly latencyMs?: number | undefined;
  readonly isBusy?: () => boolean;
}

/**
 * A server whose streams emit its log from a position on, first the past entries, then the new ones.
 * It replies to the hello. While it is busy it refuses streams.
 */
function logServer(record$: Observable<string>, log$: Observable<string>, { latencyMs, isBusy }: LogServerOptions = {}): Dialed {
  const past: string[] = [];
  record$.subscribe({ next: (letter) => past.push(letter), error: () => undefined });
  const since = (position: number): Observable<string> =>
    concat(
      defer(() => from(past.slice(position))),
      log$,
    );
  const answer = (asked: number | 'hello'): Observable<string> | undefined => {
    if (isBusy?.() === true) return undefined;
    return asked === 'hello' ? of('welcome') : since(asked);
  };
  return dialed((peer) => peer.streams$.pipe(respond(answer)).subscribe(), { latencyMs });
}

const follow = (peer: Peer): Observable<string> =>
  reopenOnReconnect(peer, {
    initial: 0,
    open: (position) => peer.open$<string>(position),
    cursor: (_, position) => position + 1,
  });

describe('reopenOnReconnect', () => {
  collectLogs();

  it.each<Row>([
    {
      does: 'waits with the stream',
      log: '     ---------',
      subs1: '   ^--------',
      expected: '---------',
    },
    {
      does: 'completes with the stream',
      log: '     ---|',
      subs1: '   ^--!',
      expected: '---|',
    },
    {
      does: 'emits one value',
      log: '     --a--|',
      subs1: '   ^----!',
      expected: '--a--|',
    },
    {
      does: 'emits many values',
      log: '     --a-(bc)-d|',
      subs1: '   ^---------!',
      expected: '--a-(bc)-d|',
    },
    {
      does: 'errors with the error of a stream that failed',
      log: '     --a--#',
      subs1: '   ^----!',
      expected: '--a--#',
      error: expect.objectContaining({ code: 'REMOTE' }),
    },
    {
      does: 'cancels the stream when unsubscribed, and opens none when the socket is lost afterwards',
      log: '     --a---b--c',
      subs1: '   ^---!     ',
      cut: '     ------x---',
      expected: '--a-      ',
      unsub: '   ----!     ',
    },
    {
      does: 'reopens the stream at its cursor when the socket is lost',
      log: '     --a---b----c-|',
      subs1: '   ^---!         ',
      subs2: '   ----^--------!',
      cut: '     ----x         ',
      expected: '--a---b----c-|',
    },
    {
      does: 'reopens the stream after each loss',
      log: '     --a---b----c-|',
      subs1: '   ^---!         ',
      subs2: '   ----^---!     ',
      subs3: '   --------^----!',
      cut: '     ----x---x     ',
      expected: '--a---b----c-|',
    },
    {
      does: 'loses and repeats no value that was on its way when the socket was lost',
      log: '     ------a-b----c----',
      subs1: '   --^------!        ',
      subs2: '   -----------^------',
      cut: '     ---------x        ',
      expected: '--------a----b-c--',
      latencyMs: 2,
    },
    {
      does: "moves to the replacement after the server's goaway",
      log: '     --a---b----c-|',
      subs1: '   ^---!         ',
      subs2: '   ----^--------!',
      goaway: '  ----4         ',
      expected: '--a---b----c-|',
    },
    {
      does: 'reads the old socket until the replacement is open, and loses no value between them',
      log: '     --------a----b---c-----d---',
      subs1: '   ------^-------------!      ',
      subs2: '   --------------------^------',
      goaway: '  ------------9              ',
      expected: '----------a----b------c--d-',
      dialing: { hello: () => ({ payload: 'hello' }) },
      latencyMs: 2,
    },
    {
      does: 'reopens a stream that the end of the drain resets before the replacement is open',
      log: '     --------a----b---c-----d---',
      subs1: '   ------^---------!          ',
      subs2: '   --------------------^------',
      goaway: '  ------------4              ',
      expected: '----------a----b------c--d-',
      dialing: { hello: () => ({ payload: 'hello' }) },
      latencyMs: 2,
    },
    {
      does: 'errors with the loss without a reconnect helper',
      log: '     --a---b----c',
      subs1: '   ^---!       ',
      cut: '     ----x       ',
      expected: '--a-#       ',
      error: expect.objectContaining({ code: 'CONNECTION_LOST' }),
      dialing: { reconnect: false },
    },
    {
      does: "errors at the end of the server's drain without a reconnect helper",
      log: '     --a---b----c',
      subs1: '   ^-------!   ',
      goaway: '  ----4       ',
      expected: '--a---b-#   ',
      error: expect.objectContaining({ code: 'CONNECTION_LOST' }),
      dialing: { reconnect: false },
    },
    {
      does: 'errors when the reconnect helper stops',
      log: '     --a---b----c',
      subs1: '   ^---!       ',
      cut: '     ----x       ',
      expected: '--a-#       ',
      error: expect.objectContaining({ code: 'CONNECTION_LOST' }),
      dialing: { reconnect: { shouldRetry: () => false } },
    },
    {
      does: 'errors when this side closes',
      log: '     --a---b----c',
      subs1: '   ^---!       ',
      close: '   ----x       ',
      expected: '--a-#       ',
      error: expect.objectContaining({ code: 'CANCELLED' }),
    },
    {
      does: 'dials a lazy peer',
      log: '     --a---b--|',
      subs1: '   ^--------!',
      expected: '--a---b--|',
      dialing: { lazy: true },
    },
    {
      does: 'waits for the reply to the hello',
      log: '     --a-----------b--|',
      subs1: '   ------^----------!',
      expected: '--------a-------b--|',
      dialing: { hello: () => ({ payload: 'hello' }) },
      latencyMs: 2,
    },
  ])(
    '`reopenOnReconnect` $does',
    marbles<[Row]>(({ hot, cold, expectObservable, expectSubscriptions }, row) => {
      const log$ = hot(row.log);
      const { server, accepted, dial } = logServer(hot(row.log), log$, { latencyMs: row.latencyMs });
      const peer = dial(row.dialing);
      cold(row.cut ?? '').subscribe(() => server.link?.cut());
      cold(row.goaway ?? '').subscribe((drainMs) => void accepted().close({ drainMs: Number(drainMs) }));
      cold(row.close ?? '').subscribe(() => void peer.close());
      expectObservable(follow(peer), row.unsub).toBe(row.expected, undefined, row.error);
      expectSubscriptions(log$.subscriptions).toBe([row.subs1, row.subs2, row.subs3].filter((subs) => subs !== undefined));
    }),
  );

  it(
    '`reopenOnReconnect` keeps a cursor for each subscription',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const log$ = hot('      --a-----b-----|');
      const subs1 = '         ^---------!';
      const subs2 = '         ----^-----!';
      const subs3 = '         ----------^---!';
      const cut$ = cold('     ----------x');
      const expected1 = '     --a-----b-----|';
      const expected2 = '     ----a---b-----|';
      const { server, dial } = logServer(hot('--a-----b-----|'), log$);
      const followed$ = follow(dial());
      cut$.subscribe(() => server.link?.cut());
      expectObservable(followed$).toBe(expected1);
      expectObservable(followed$, '----^').toBe(expected2);
      expectSubscriptions(log$.subscriptions).toBe([subs1, subs2, subs3, subs3]);
    }),
  );

  it(
    '`reopenOnReconnect` repeats the same call each time when it has only open',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const record = '  --a---b------c-|';
      const cut$ = hot('----x---x');
      const subs1 = '   ^---!';
      const subs2 = '   ----^---!';
      const subs3 = '   --------^------!';
      const expected = '--a-a-b-(ab)-c-|';
      const log$ = hot(record);
      const { server, dial } = logServer(hot(record), log$);
      const peer = dial();
      cut$.subscribe(() => server.link?.cut());
      expectObservable(reopenOnReconnect(peer, { open: () => peer.open$<string>(0) })).toBe(expected);
      expectSubscriptions(log$.subscriptions).toBe([subs1, subs2, subs3]);
    }),
  );

  it.each<Restart>([
    {
      does: 'errors when a restarted server refuses for a moment',
      retry: false,
      subs: ['^---!'],
      expected: '--a-#',
    },
    {
      does: 'continues after a server that refuses for a moment when its calls have retry',
      retry: { delay: 5 },
      subs: ['^---!', '---------^---!'],
      expected: '--a------b-c-|',
    },
  ])(
    '`reopenOnReconnect` $does',
    marbles<[Restart]>(({ hot, expectObservable, expectSubscriptions }, { retry, subs, expected }) => {
      const record = '   --a---b----c-|';
      const restart$ = hot('----x--o');
      const log$ = hot(record);
      let isStarting = false;
      const { server, dial } = logServer(hot(record), log$, { isBusy: () => isStarting });
      const peer = dial();
      restart$.subscribe((what) => {
        isStarting = what === 'x';
        if (isStarting) server.link?.cut();
      });
      const followed$ = reopenOnReconnect(peer, {
        initial: 0,
        open: (position) => peer.open$<string>(position, { retry }),
        cursor: (_, position) => position + 1,
      });
      expectObservable(followed$).toBe(expected, undefined, expect.objectContaining({ code: 'REFUSED' }));
      expectSubscriptions(log$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`reopenOnReconnect` passes on a refusal of the remote',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold('--x--|');
      const subs = '       ^-!';
      const expected = '   --#';
      const { dial } = dialed(() => undefined);
      const peer = dial();
      const error = expect.objectContaining({ code: 'REFUSED', resetCode: 7 });
      expectObservable(calls$.pipe(mergeMap(() => follow(peer)))).toBe(expected, undefined, error);
      expectSubscriptions(calls$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`reopenOnReconnect` errors with what open or cursor throws, and unsubscribes from the stream',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const log$ = hot('--a---b');
      const subs = '    ^-!';
      const thrown = new Error('lost count');
      const throws = (): never => {
        throw thrown;
      };
      const { dial } = logServer(hot('-'), log$);
      const peer = dial();
      expectObservable(reopenOnReconnect(peer, { initial: 0, open: throws, cursor: () => 0 })).toBe('#', undefined, thrown);
      expectObservable(reopenOnReconnect(peer, { initial: 0, open: () => peer.open$(0), cursor: throws })).toBe('--#', undefined, thrown);
      expectSubscriptions(log$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`reopenOnReconnect` errors at once on a closed peer',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold('--x--|');
      const subs = '       ^-!';
      const expected = '   --#';
      const { dial } = dialed(() => undefined);
      const peer = dial();
      void peer.close();
      const error = expect.objectContaining({ code: 'CONNECTION_LOST' });
      expectObservable(calls$.pipe(mergeMap(() => follow(peer)))).toBe(expected, undefined, error);
      expectSubscriptions(calls$.subscriptions).toBe(subs);
    }),
  );
});
