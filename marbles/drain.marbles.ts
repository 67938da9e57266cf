import { describe, expect, it } from '@jest/globals';
import { catchError, map, mergeMap, of, Subject } from 'rxjs';
import { ResetCode, respond } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';
import { collectLogs } from '../spec/support/peer/logs.js';

interface Row {
  readonly does: string;
  /** How long the drain may last. The acceptor closes at each `c`, the second time with `again`. */
  readonly drainMs: number;
  readonly again?: number;
  readonly close: string;
  readonly answer: string;
  readonly answerSubs: string;
  readonly expected: string;
  readonly closed: string;
  readonly wire: string;
  readonly error?: unknown;
}

const CANCEL = expect.objectContaining({ code: 'RESET', resetCode: ResetCode.CANCEL });

describe('close with a live stream', () => {
  collectLogs();

  it.each<Row>([
    {
      does: 'waits for the stream, and closes after its end',
      drainMs: 20,
      close: '     ---c         ',
      answer: '    --1---2--|   ',
      answerSubs: '^--------!   ',
      expected: '  --1---2--|   ',
      wire: '      o-DG--D--(E|)',
      closed: '    ---------(x|)',
    },
    {
      does: 'resets the stream when the time is up',
      drainMs: 4,
      close: '     ---c         ',
      answer: '    --1--2--3    ',
      answerSubs: '^------!     ',
      expected: '  --1--2-#     ',
      wire: '      o-DG-D-(R|)  ',
      closed: '    -------(x|)  ',
      error: CANCEL,
    },
    {
      does: 'resets the stream at once when no time is allowed',
      drainMs: 0,
      close: '     ---c         ',
      answer: '    --1--2--3    ',
      answerSubs: '^--!         ',
      expected: '  --1#         ',
      wire: '      o-D(GR|)     ',
      closed: '    ---(x|)      ',
      error: CANCEL,
    },
    {
      does: 'is shortened by a second close',
      drainMs: 20,
      again: 2,
      close: '     ---c-c       ',
      answer: '    --1--2--3    ',
      answerSubs: '^------!     ',
      expected: '  --1--2-#     ',
      wire: '      o-DG-D-(R|)  ',
      closed: '    -------(x|)  ',
      error: CANCEL,
    },
    {
      does: 'is not prolonged by a second close',
      drainMs: 4,
      again: 20,
      close: '     ---c-c       ',
      answer: '    --1--2--3    ',
      answerSubs: '^------!     ',
      expected: '  --1--2-#     ',
      wire: '      o-DG-D-(R|)  ',
      closed: '    -------(x|)  ',
      error: CANCEL,
    },
    {
      does: 'passes on the failure of the stream, and closes after it',
      drainMs: 20,
      close: '     ---c         ',
      answer: '    --1--#       ',
      answerSubs: '^----!       ',
      expected: '  --1--#       ',
      wire: '      o-DG-(F|)    ',
      closed: '    -----(x|)    ',
      error: expect.objectContaining({ code: 'REMOTE' }),
    },
  ])(
    '`close` with a live stream $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, row) => {
      const { dialer, acceptor, link } = createPair();
      const answer$ = cold(row.answer);
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      const times = [row.drainMs, row.again ?? 0];
      cold(row.close).subscribe(() => void acceptor.close({ drainMs: times.shift() }));
      expectObservable(wire(link)).toBe(row.wire);
      expectObservable(dialer.closes$.pipe(map(({ code }) => code))).toBe(row.closed, { x: 1000 });
      expectObservable(dialer.open$('x')).toBe(row.expected, undefined, row.error);
      expectSubscriptions(answer$.subscriptions).toBe(row.answerSubs);
    }),
  );
});

describe('close', () => {
  it(
    '`close` without a live stream sends goaway and closes at once, whatever drainMs is',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('-|');
      const close$ = cold(' ---c');
      const answerSubs = '  ^!';
      const expected = '    -|';
      const onWire = '      oE-(g|)';
      const closed = '      ---(x|)';
      const { dialer, acceptor, link } = createPair();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      close$.subscribe(() => void dialer.close({ drainMs: 1_000 }));
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(acceptor.closes$.pipe(map(({ code }) => code))).toBe(closed, { x: 1000 });
      expectObservable(dialer.open$('x')).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    '`close` delivers what was accepted before it',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('-1');
      const close$ = cold(' ---c');
      const answerSubs = '  ---(^!)';
      const received = '    ---n';
      const { dialer, acceptor } = createPair();
      const received$ = new Subject<unknown>();
      const answer = (payload: unknown): typeof answer$ => {
        received$.next(payload);
        return answer$;
      };
      acceptor.streams$.pipe(respond(answer)).subscribe();
      close$.subscribe(() => {
        dialer.notify('n');
        void dialer.close();
      });
      expectObservable(received$).toBe(received);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    '`close` refuses later calls',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('--1--|');
      const calls$ = cold(' a---b');
      const close$ = cold(' ---c');
      const answerSubs = '  ^----!';
      const callsSubs = '   ^';
      const expected = '    --1-r';
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      close$.subscribe(() => void dialer.close({ drainMs: 20 }));
      const outcomes$ = calls$.pipe(mergeMap((name) => dialer.open$(name).pipe(catchError((error: unknown) => of(error)))));
      expectObservable(outcomes$).toBe(expected, { 1: '1', r: expect.objectContaining({ code: 'REFUSED', retriable: false }) });
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
      expectSubscriptions(calls$.subscriptions).toBe(callsSubs);
    }),
  );
});
