import { describe, expect, it } from '@jest/globals';
import { map, mergeMap, of, take, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { RefusedError, ResetCode, respond } from '../src/index.js';
import type { Peer } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { dialed } from './support/dialing.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';
import { collectLogs } from '../spec/support/peer/logs.js';

const REFUSED = expect.objectContaining({ code: 'REFUSED', resetCode: 7, retriable: true });
/** Three attempts, 4 ms apart: the width of `(oX)`. */
const THRICE = { count: 2, delay: 4 };

/** Refuses the first streams, and answers later ones. */
function answers(peer: Peer, refusals: number, answer$: Observable<unknown>): void {
  let left = refusals;
  peer.streams$
    .pipe(
      respond((_, stream) => {
        if (left-- <= 0) return answer$;
        stream.reset(ResetCode.REFUSED, 'busy');
        return undefined;
      }),
    )
    .subscribe();
}

interface Row {
  readonly does: string;
  readonly refusals: number;
  readonly answer: string;
  /** The subscriptions to the source on the server. */
  readonly subs?: string;
  readonly expected: string;
  readonly onWire: string;
  readonly unsub?: string;
  readonly error?: unknown;
}

describe('the option retry', () => {
  collectLogs();

  it.each<Row>([
    {
      does: 'does nothing without a refusal',
      refusals: 0,
      answer: '  --a|',
      subs: '    ^--!',
      expected: '--a|',
      onWire: '  o-DE',
    },
    {
      does: 'calls again after a refusal',
      refusals: 1,
      answer: '      --a|',
      subs: '    ----^--!',
      expected: '------a|',
      onWire: '  (oX)o-DE',
    },
    {
      does: 'passes on the refusal after the last attempt',
      refusals: 9,
      answer: '  --a|',
      expected: '--------#',
      onWire: '  (oX)(oX)(oX)',
      error: REFUSED,
    },
    {
      does: 'never calls again after a failure of the handler',
      refusals: 0,
      answer: '  --a--#',
      subs: '    ^----!',
      expected: '--a--#',
      onWire: '  o-D--F',
      error: expect.objectContaining({ code: 'REMOTE' }),
    },
    {
      does: 'stops when unsubscribed between two attempts',
      refusals: 9,
      answer: '  --a|',
      expected: '--',
      onWire: '  (oX)',
      unsub: '   --!',
    },
  ])(
    'The option retry $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, row) => {
      const { dialer, acceptor, link } = createPair();
      const answer$ = cold(row.answer);
      answers(acceptor, row.refusals, answer$);
      expectObservable(wire(link)).toBe(row.onWire);
      expectObservable(dialer.open$('x', { retry: THRICE }), row.unsub).toBe(row.expected, undefined, row.error);
      expectSubscriptions(answer$.subscriptions).toBe(row.subs ?? []);
    }),
  );

  it.each([false, undefined] as const)(
    'A retry of %s makes one call',
    marbles<[false | undefined]>(({ cold, expectObservable, expectSubscriptions }, retry) => {
      const answer$ = cold('--a|');
      const expected = '    #';
      const onWire = '      (oX)';
      const { dialer, acceptor, link } = createPair();
      answers(acceptor, 1, answer$);
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.request$('x', { retry })).toBe(expected, undefined, REFUSED);
      expectSubscriptions(answer$.subscriptions).toBe([]);
    }),
  );

  it(
    'The option retry works for request$ as well',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('    --a|');
      const subs = '        ----^--!';
      const expected = '    ------(a|)';
      const onWire = '      (oX)o-DE';
      const { dialer, acceptor, link } = createPair();
      answers(acceptor, 1, answer$);
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.request$('x', { retry: THRICE })).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    'The option retry stops waiting when the signal aborts between two attempts',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const aborts$ = cold('   -----a');
      const aborting = '       ^----!';
      const answer$ = cold('   --a|');
      const expected = '       -----#';
      const onWire = '         (oX)';
      const { dialer, acceptor, link } = createPair();
      const abort = new AbortController();
      answers(acceptor, 9, answer$);
      aborts$.pipe(take(1)).subscribe(() => {
        abort.abort('left');
      });
      expectObservable(wire(link)).toBe(onWire);
      const call$ = dialer.open$('x', { retry: { count: 1, delay: 1_000 }, signal: abort.signal });
      expectObservable(call$).toBe(expected, undefined, expect.objectContaining({ code: 'CANCELLED', cause: 'left' }));
      expectSubscriptions(aborts$.subscriptions).toBe(aborting);
      expectSubscriptions(answer$.subscriptions).toBe([]);
    }),
  );

  it(
    'The option retry ignores errors of operators after the call',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('--a---');
      const subs = '        ^-!';
      const expected = '    --#';
      const onWire = '      o-(Dr)';
      const { dialer, acceptor, link } = createPair();
      const late = new RefusedError('by what comes after');
      answers(acceptor, 0, answer$);
      const call$ = dialer.open$('x', { retry: THRICE }).pipe(mergeMap(() => throwError(() => late)));
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(call$).toBe(expected, undefined, late);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    'The option retry subscribes to the input again',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const input$ = cold('    -a-b|');
      const subs1 = '      (^!)';
      const subs2 = '      ----^---!';
      const expected = '   -----a-b|';
      const { dialer, acceptor } = createPair();
      let refusals = 1;
      acceptor.streams$
        .pipe(
          respond((_, stream) => {
            if (refusals-- <= 0) return stream;
            stream.reset(ResetCode.REFUSED, 'busy');
            return undefined;
          }),
        )
        .subscribe();
      expectObservable(dialer.open$('x', { input: input$, retry: THRICE })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe([subs1, subs2]);
    }),
  );

  it(
    'The option retry runs the interceptors for each attempt, with a fresh copy of the headers',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('    --a|');
      const subs = '        ----^--!';
      const expected = '    ------a|';
      const arrived = '     1---2';
      const { dialer, acceptor } = createPair();
      let attempt = 0;
      dialer.interceptOpen((headers) => {
        headers['attempts'] = [...((headers['attempts'] as number[] | undefined) ?? []), ++attempt];
      });
      const headers$ = acceptor.streams$.pipe(map(({ headers }) => headers['attempts']));
      expectObservable(headers$).toBe(arrived, { 1: [1], 2: [2] });
      answers(acceptor, 1, answer$);
      expectObservable(dialer.open$('x', { retry: THRICE, headers: {} })).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    'The option retry repeats a call that crossed a goaway on the replacement, where it runs once',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const goaway$ = cold(' ---g');
      const call$ = cold('   ----c');
      const answer$ = cold('             -a|');
      const answerSubs = '   -----------^-!';
      const callSubs = '     ^---';
      const expected = '     --------------a';
      const { accepted, dial } = dialed((peer) => answers(peer, 0, answer$), { latencyMs: 2 });
      const peer = dial();
      goaway$.subscribe(() => void accepted().close({ drainMs: 50 }));
      expectObservable(call$.pipe(mergeMap(() => peer.request$('x', { retry: THRICE })))).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
      expectSubscriptions(call$.subscriptions).toBe(callSubs);
    }),
  );

  it(
    'The option retry counts no attempt for the wait for a connection',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('        -a|');
      const subs = '          ------^-!';
      const expected = '      ---------(a|)';
      const answer = (payload: unknown): Observable<string> => (payload === 'hello' ? of('welcome') : answer$);
      const { dial } = dialed((peer) => peer.streams$.pipe(respond(answer)).subscribe(), { latencyMs: 2 });
      const peer = dial({ hello: () => ({ payload: 'hello' }) });
      expectObservable(peer.request$('x', { retry: { count: 0 } })).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );
});
