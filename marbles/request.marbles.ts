import { describe, expect, it } from '@jest/globals';
import { concat, ignoreElements, mergeMap, ReplaySubject, retry, tap, withLatestFrom } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond } from '../src/index.js';
import type { Stream } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';
import { collectLogs } from '../spec/support/peer/logs.js';

interface Row {
  readonly does: string;
  /** The row of the server's source, counted from the request. */
  readonly answer: string;
  readonly subs: string;
  readonly expected: string;
  readonly onWire: string;
  readonly unsub?: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

describe('request$', () => {
  collectLogs();

  it.each<Row>([
    {
      does: 'waits while no answer comes',
      answer: '  ---------',
      subs: '    ^--------',
      expected: '---------',
      onWire: '  o--------',
    },
    {
      does: 'emits null for an end without a value',
      answer: '  ---|',
      subs: '    ^--!',
      expected: '---(n|)',
      onWire: '  o--E',
      values: { n: null },
    },
    {
      does: 'emits the one value at once, without waiting for the end',
      answer: '  --a---|',
      subs: '    ^-----!',
      expected: '--(a|)',
      onWire: '  o-D---E',
    },
    {
      does: 'cancels after a second value',
      answer: '  --a---b---c|',
      subs: '    ^-----!',
      expected: '--(a|)',
      onWire: '  o-D---(Dr)',
    },
    {
      does: 'errors with the failure of the handler',
      answer: '  ---#',
      subs: '    ^--!',
      expected: '---#',
      onWire: '  o--F',
      error: expect.objectContaining({ code: 'REMOTE', reason: 'error', retriable: false }),
    },
    {
      does: 'ignores a failure after its answer',
      answer: '  --a---#',
      subs: '    ^-----!',
      expected: '--(a|)',
      onWire: '  o-D---F',
    },
    {
      does: 'cancels when unsubscribed before the answer, and the server unsubscribes its source',
      answer: '  ------a|',
      subs: '    ^---!',
      expected: '----',
      onWire: '  o---r',
      unsub: '   ----!',
    },
  ])(
    '`request$` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { answer, subs, expected, onWire, unsub, values, error }) => {
      const { dialer, acceptor, link } = createPair({ dialer: { requestTimeoutMs: 0 } });
      const answer$ = cold(answer);
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.request$('x'), unsub).toBe(expected, values, error);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`request$` sends nothing before it is subscribed, and one request for each subscription',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const answer$ = cold('-a|');
      const subs1 = '       --^-!';
      const subs2 = '       -------^-!';
      const expected1 = '   ---(a|)';
      const expected2 = '   --------(a|)';
      const onWire = '      --oDE--oDE';
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      const request$ = dialer.request$('x');
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(request$, '--^').toBe(expected1);
      expectObservable(request$, '-------^').toBe(expected2);
      expectSubscriptions(answer$.subscriptions).toBe([subs1, subs2]);
    }),
  );

  it(
    '`request$` errors with the loss of the socket',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const answer$ = cold('------a');
      const cut$ = cold('   ---x');
      const subs = '        ^--!';
      const expected = '    ---#';
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      cut$.subscribe(() => link.cut());
      expectObservable(dialer.request$('x')).toBe(
        expected,
        undefined,
        expect.objectContaining({ code: 'CONNECTION_LOST', retriable: false }),
      );
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`request$` that fails at once errors on a later turn of the same frame, so that a retry is not made within it',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer } = createPair();
      const attempts$ = cold('-|');
      const subs = ['         ^!', '-^!', '--^!'];
      const expected = '      ---#';
      const call$ = concat(
        attempts$,
        dialer.request$(() => 0),
      );
      expectObservable(call$.pipe(retry(2))).toBe(expected, undefined, expect.any(TypeError));
      expectSubscriptions(attempts$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`request$` sends nothing and errors when an interceptor throws or the codec cannot carry the payload',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, link } = createPair();
      const calls$ = cold('--x');
      const subs = '       ^-!';
      const expected = '   --#';
      const onWire = '     ---';
      const thrown = new Error('not signed in');
      dialer.interceptOpen((_, payload) => {
        if (payload === 'forbidden') throw thrown;
      });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(calls$.pipe(mergeMap(() => dialer.request$('forbidden')))).toBe(expected, undefined, thrown);
      expectObservable(calls$.pipe(mergeMap(() => dialer.request$(() => 0)))).toBe(expected, undefined, expect.any(TypeError));
      expectSubscriptions(calls$.subscriptions).toBe([subs, subs]);
    }),
  );

  it(
    '`request$` sends nothing for an aborted signal',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, link } = createPair();
      const calls$ = cold('--x');
      const subs = '       ^-!';
      const expected = '   --#';
      const onWire = '     ---';
      const error = expect.objectContaining({ code: 'CANCELLED' });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(calls$.pipe(mergeMap(() => dialer.request$('x', { signal: AbortSignal.abort() })))).toBe(expected, undefined, error);
      expectSubscriptions(calls$.subscriptions).toBe(subs);
    }),
  );

  it(
    'The stream of request$ has the reply headers and the trailers when the answer comes',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const done$ = cold('---x-----');
      const subs = '      ^--!';
      const headers = '   ---h';
      const expected = '  ---(a|)';
      const reply = (_: unknown, stream: Stream): Observable<never> =>
        done$.pipe(
          tap(() => void stream.reply('done', { headers: { page: 1 }, trailers: { rows: 3 } })),
          ignoreElements(),
        );
      acceptor.streams$.pipe(respond(reply)).subscribe();
      const opened$ = new ReplaySubject<Stream>(1);
      const answer$ = dialer.request$('x', { onOpen: (stream) => opened$.next(stream) });
      const facts$ = answer$.pipe(withLatestFrom(opened$, (answer, stream) => [answer, stream.replyHeaders, stream.trailers]));
      expectObservable(opened$.pipe(mergeMap((stream) => stream.replyHeaders$))).toBe(headers, { h: { page: 1 } });
      expectObservable(facts$).toBe(expected, { a: ['done', { page: 1 }, { rows: 3 }] });
      expectSubscriptions(done$.subscriptions).toBe(subs);
    }),
  );
});
