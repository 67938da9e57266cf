import { describe, expect, it } from '@jest/globals';
import { catchError, EMPTY, fromEvent, map, mergeMap, Subject, switchMap, take } from 'rxjs';
import { ResetCode, respond } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';

describe('cancelling by the side that opened', () => {
  it(
    'A switchMap on the client unsubscribes the Observable on the server',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const typed$ = hot('  -a-----b-------c----|');
      const a$ = cold('      --1---2---3---4|      ');
      const b$ = cold('            --5---6---7---8|');
      const c$ = cold('                    --9-|   ');
      const aSubs = '       -^-----!              ';
      const bSubs = '       -------^-------!      ';
      const cSubs = '       ---------------^---!  ';
      const typedSubs = '   ^-------------------! ';
      const expected = '    ---1-----5---6---9--|';
      const { dialer, acceptor } = createPair();
      const searches: Record<string, typeof a$> = { a: a$, b: b$, c: c$ };
      acceptor.streams$.pipe(respond((query: string) => searches[query])).subscribe();
      expectObservable(typed$.pipe(switchMap((query) => dialer.open$(query)))).toBe(expected);
      expectSubscriptions(a$.subscriptions).toBe(aSubs);
      expectSubscriptions(b$.subscriptions).toBe(bSubs);
      expectSubscriptions(c$.subscriptions).toBe(cSubs);
      expectSubscriptions(typed$.subscriptions).toBe(typedSubs);
    }),
  );

  it(
    'Cancelling resets the stream once, after the last value that is taken',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('-a-b---c');
      const answerSubs = '  ^--!';
      const expected = '    -a-(b|)';
      const onWire = '      oD-(Dr)';
      const { dialer, acceptor, link } = createPair();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x').pipe(take(2))).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    'An aborted signal unsubscribes the answer and resets the stream',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('-----a');
      const abort$ = cold(' ---x');
      const answerSubs = '  ^--!';
      const expected = '    ---#';
      const onWire = '      o--r';
      const { dialer, acceptor, link } = createPair();
      const abort = new AbortController();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      abort$.subscribe(() => {
        abort.abort('the user left');
      });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.request$('x', { signal: abort.signal })).toBe(
        expected,
        undefined,
        expect.objectContaining({ code: 'CANCELLED', cause: 'the user left', retriable: false }),
      );
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    'Cancelling a call aborts the signal of its stream on the server',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold('  -c|');
      const answer$ = cold(' ---------');
      const answerSubs = '   -^---!';
      const leave = '        -----!';
      const aborted = '      -----x';
      const { dialer, acceptor } = createPair();
      const aborts$ = new Subject<unknown>();
      acceptor.onStream((_, stream) => {
        fromEvent(stream.signal, 'abort').subscribe(() => aborts$.next(stream.signal.reason));
        return stream.sendAll(answer$);
      });
      expectObservable(aborts$).toBe(aborted, { x: expect.objectContaining({ code: 'RESET', resetCode: ResetCode.CANCEL }) });
      expectObservable(calls$.pipe(mergeMap(() => dialer.open$('x'))), leave).toBe('');
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    'Cancelling a call unsubscribes its upload',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const input$ = cold('  -a-b-c');
      const inputSubs = '    ^---!';
      const leave = '        ----!';
      const read = '         -a-b#';
      const onWire = '       od-dr';
      const { dialer, acceptor, link } = createPair();
      const read$ = acceptor.streams$.pipe(mergeMap((stream) => stream));
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(read$).toBe(read, undefined, expect.objectContaining({ code: 'RESET', resetCode: ResetCode.CANCEL }));
      expectObservable(dialer.open$('x', { input: input$ }), leave).toBe('');
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
    }),
  );
});

describe('cancelling by the side that answers', () => {
  it(
    'A reset by the server unsubscribes the upload, and the call errors',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const input$ = cold('-a-b-c');
      const stop$ = cold(' ----x');
      const inputSubs = '  ^---!';
      const expected = '   ----#';
      const onWire = '     od-dR';
      const { dialer, acceptor, link } = createPair();
      acceptor.streams$.pipe(mergeMap((stream) => stream.pipe(catchError(() => EMPTY)))).subscribe();
      acceptor.streams$.pipe(mergeMap((stream) => stop$.pipe(map(() => stream)))).subscribe((stream) => {
        stream.reset();
      });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x', { input: input$ })).toBe(
        expected,
        undefined,
        expect.objectContaining({ code: 'RESET', resetCode: ResetCode.CANCEL, retriable: false }),
      );
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
    }),
  );

  it(
    "A server's reader that leaves only stops reading: the upload goes on",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const input$ = cold('-a-b-c|');
      const inputSubs = '  ^-----!';
      const read = '       -a-(b|)';
      const expected = '   --------';
      const onWire = '     od-d-de';
      const { dialer, acceptor, link } = createPair();
      const read$ = acceptor.streams$.pipe(
        take(1),
        mergeMap((stream) => stream.pipe(take(2))),
      );
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(read$).toBe(read);
      expectObservable(dialer.open$('x', { input: input$ })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
    }),
  );
});

describe('cancelling by both sides at once', () => {
  it(
    'Two resets cross on the wire, and no reset answers a reset',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('  ---------');
      const stop$ = cold('    --x');
      const answerSubs = '  --^-!';
      const leave = '       ----!';
      const onWire = '      o---(rR)';
      const { dialer, acceptor, link } = createPair({ latencyMs: 2 });
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      acceptor.streams$.pipe(mergeMap((stream) => stop$.pipe(map(() => stream)))).subscribe((stream) => {
        stream.reset();
      });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x'), leave).toBe('');
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );
});
