import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { NEVER, throwError } from 'rxjs';
import { ConnectionLostError, QueueOverflowError, RefusedError, RemoteError, retryWhenSafe } from '../src/index.js';
import type { Retry } from '../src/index.js';
import { marbles } from './support/virtual.js';

const LOST = { code: 1006, reason: '', wasClean: false, willRetry: true };
const refused = new RefusedError('too many');

interface Row {
  readonly does: string;
  readonly source: string;
  readonly subs1: string;
  readonly subs2?: string;
  readonly subs3?: string;
  readonly subs4?: string;
  readonly expected: string;
  readonly error?: unknown;
  readonly unsub?: string;
}

const TWICE_IN_3_MS: Retry = { count: 2, delay: 3 };

afterEach(() => {
  jest.restoreAllMocks();
});

describe('retryWhenSafe', () => {
  it.each<Row>([
    {
      does: 'waits with its source',
      source: '  ---------',
      subs1: '   ^--------',
      expected: '---------',
    },
    {
      does: 'completes with its source',
      source: '  ---|',
      subs1: '   ^--!',
      expected: '---|',
    },
    {
      does: 'passes on one value',
      source: '  --a|',
      subs1: '   ^--!',
      expected: '--a|',
    },
    {
      does: 'passes on many values',
      source: '  -ab-(cd)-|',
      subs1: '   ^--------!',
      expected: '-ab-(cd)-|',
    },
    {
      does: 'subscribes again after a retriable error, count times',
      source: '  --#',
      subs1: '   ^-!',
      subs2: '   -----^-!',
      subs3: '   ----------^-!',
      expected: '------------#',
      error: refused,
    },
    {
      does: 'counts from the start after a value',
      source: '  --a#',
      subs1: '   ^--!',
      subs2: '   ------^--!',
      subs3: '   ------------^--!',
      subs4: '   ------------------^--!',
      expected: '--a-----a-----a-----a',
      error: refused,
      unsub: '   ---------------------!',
    },
    {
      does: 'passes on the error of a remote that has begun the work',
      source: '  --#',
      subs1: '   ^-!',
      expected: '--#',
      error: new RemoteError('no such seat', null),
    },
    {
      does: 'passes on the loss of a connection over which the call was sent',
      source: '  --#',
      subs1: '   ^-!',
      expected: '--#',
      error: new ConnectionLostError(LOST),
    },
    {
      does: 'passes on an error of another library',
      source: '  --#',
      subs1: '   ^-!',
      expected: '--#',
      error: Object.assign(new Error('other'), { retriable: true }),
    },
    {
      does: 'passes on an error that another library calls retriable',
      source: '  --#',
      subs1: '   ^-!',
      expected: '--#',
      error: Object.assign(new Error('Connection error'), { code: 'ECONNREFUSED', retriable: true }),
    },
    {
      does: 'unsubscribes from its source when it is unsubscribed',
      source: '  --#',
      subs1: '   ^-!',
      subs2: '   -----^!',
      expected: '------',
      error: refused,
      unsub: '   ------!',
    },
    {
      does: 'stops waiting when it is unsubscribed',
      source: '  --#',
      subs1: '   ^-!',
      expected: '----',
      error: refused,
      unsub: '   ----!',
    },
  ])(
    '`retryWhenSafe` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { source, expected, error, unsub, ...row }) => {
      const source$ = cold(source, undefined, error);
      expectObservable(source$.pipe(retryWhenSafe(TWICE_IN_3_MS)), unsub).toBe(expected, undefined, error);
      expectSubscriptions(source$.subscriptions).toBe([row.subs1, row.subs2, row.subs3, row.subs4].filter((subs) => subs !== undefined));
    }),
  );

  it.each([
    ['refused by the remote', new RefusedError('too many')],
    ['above the last stream of a goaway', new RefusedError('going away', null)],
    ['lost before it was sent', new ConnectionLostError(LOST, { retriable: true })],
    ['rejected by the queue of waiting calls', new QueueOverflowError('full', { retriable: true })],
  ])(
    '`retryWhenSafe` repeats a call that was %s',
    marbles<[string, unknown]>(({ cold, expectObservable, expectSubscriptions }, _, error) => {
      const source$ = cold('--#', undefined, error);
      const subs1 = '       ^-!';
      const subs2 = '       -----^-!';
      const expected = '    -------#';
      expectObservable(source$.pipe(retryWhenSafe({ count: 1, delay: 3 }))).toBe(expected, undefined, error);
      expectSubscriptions(source$.subscriptions).toBe([subs1, subs2]);
    }),
  );

  it(
    "`retryWhenSafe` retries at the first value of delay's Observable, and unsubscribes from it",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('  --#', undefined, refused);
      const notifier$ = cold('   ---x-x-x');
      const subs1 = '         ^-!';
      const subs2 = '         -----^-!';
      const notifierSubs = '  --^--!';
      const expected = '      -------#';
      expectObservable(source$.pipe(retryWhenSafe({ count: 1, delay: () => notifier$ }))).toBe(expected, undefined, refused);
      expectSubscriptions(source$.subscriptions).toBe([subs1, subs2]);
      expectSubscriptions(notifier$.subscriptions).toBe(notifierSubs);
    }),
  );

  it(
    "`retryWhenSafe` retries at the completion of delay's Observable",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('  --#', undefined, refused);
      const notifier$ = cold('   ---|');
      const subs1 = '         ^-!';
      const subs2 = '         -----^-!';
      const notifierSubs = '  --^--!';
      const expected = '      -------#';
      expectObservable(source$.pipe(retryWhenSafe({ count: 1, delay: () => notifier$ }))).toBe(expected, undefined, refused);
      expectSubscriptions(source$.subscriptions).toBe([subs1, subs2]);
      expectSubscriptions(notifier$.subscriptions).toBe(notifierSubs);
    }),
  );

  it(
    '`retryWhenSafe` waits for ever for an Observable of delay that never ends',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('--#', undefined, refused);
      const subs = '        ^-!';
      const expected = '    --------';
      expectObservable(source$.pipe(retryWhenSafe({ delay: () => NEVER }))).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`retryWhenSafe` shortens a delay beyond the longest timer to the longest timer',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('--#', undefined, refused);
      const subs = '        ^-!';
      const unsub = `       ${2 ** 31 - 1}ms !`;
      const expected = '    -';
      expectObservable(source$.pipe(retryWhenSafe({ delay: Infinity })), unsub).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`retryWhenSafe` fails with the error that delay throws or emits',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('--#', undefined, refused);
      const subs = '        ^-!';
      const expected = '    --#';
      const thrown = new Error('no patience');
      const throwing = (): never => {
        throw thrown;
      };
      expectObservable(source$.pipe(retryWhenSafe({ delay: throwing }))).toBe(expected, undefined, thrown);
      expectObservable(source$.pipe(retryWhenSafe({ delay: () => throwError(() => thrown) }))).toBe(expected, undefined, thrown);
      expectSubscriptions(source$.subscriptions).toBe([subs, subs]);
    }),
  );

  it(
    '`retryWhenSafe` calls delay with the error and the number of the attempt',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-#', undefined, refused);
      const subs = ['       ^!', '-^!', '--^!'];
      const expected = '    ---#';
      const calls: unknown[] = [];
      const delay: Retry['delay'] = (error, attempt) => {
        calls.push([error, attempt]);
        return [0];
      };
      expectObservable(source$.pipe(retryWhenSafe({ count: 2, delay }))).toBe(expected, undefined, refused);
      expectSubscriptions(source$.subscriptions).toBe(subs);
      cold('------x').subscribe(() => {
        expect(calls).toEqual([
          [refused, 1],
          [refused, 2],
        ]);
      });
    }),
  );

  it(
    '`retryWhenSafe` by default waits a random share of 500, 1 000 and 2 000 ms, and fails after the third retry',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      jest.spyOn(Math, 'random').mockReturnValue(0.5);
      const source$ = cold('#', undefined, refused);
      const subs1 = '       (^!)';
      const subs2 = '       250ms (^!)';
      const subs3 = '       250ms 500ms (^!)';
      const subs4 = '       250ms 500ms 1s (^!)';
      const expected = '    250ms 500ms 1s #';
      expectObservable(source$.pipe(retryWhenSafe())).toBe(expected, undefined, refused);
      expectSubscriptions(source$.subscriptions).toBe([subs1, subs2, subs3, subs4]);
    }),
  );

  it.each([{ count: -1 }, { count: Number.NaN }, { delay: -1 }])('`retryWhenSafe` throws for %j', (retry) => {
    expect(() => retryWhenSafe(retry)).toThrow(TypeError);
  });
});
