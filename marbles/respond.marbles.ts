import { describe, expect, it } from '@jest/globals';
import { catchError, defer, EMPTY, map, merge, mergeMap, of, take, takeUntil, timer } from 'rxjs';
import { ResetCode, ResetError, respond } from '../src/index.js';
import type { Stream } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { logged } from './support/logged.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';
import { collectLogs } from '../spec/support/peer/logs.js';

interface Row {
  readonly does: string;
  readonly answer: string;
  readonly subs: string;
  readonly expected: string;
  readonly unsub?: string;
  readonly error?: unknown;
}

/** One source of streams for `respond`. Each call is one stream. */
interface Streams {
  readonly does: string;
  readonly calls: string;
  readonly subs: string;
  readonly answered: string[];
  readonly expected: string;
}

const REMOTE = expect.objectContaining({ code: 'REMOTE', reason: 'error', retriable: false });
const REFUSED = expect.objectContaining({ code: 'REFUSED', retriable: true });
const CANCEL = expect.objectContaining({ code: 'RESET', resetCode: ResetCode.CANCEL });

describe('respond', () => {
  collectLogs();

  it.each<Row>([
    {
      does: 'leaves the caller waiting while the answer is silent',
      answer: '  ---------',
      subs: '    ^--------',
      expected: '---------',
    },
    {
      does: 'sends an end for an empty answer',
      answer: '  ---|',
      subs: '    ^--!',
      expected: '---|',
    },
    {
      does: 'sends data for a value and an end for the completion',
      answer: '  --a--|',
      subs: '    ^----!',
      expected: '--a--|',
    },
    {
      does: 'keeps the order of many values',
      answer: '  -ab(cd)-e|',
      subs: '    ^--------!',
      expected: '-ab(cd)-e|',
    },
    {
      does: 'sends a reset for an error, after the values before it',
      answer: '  --a-#',
      subs: '    ^---!',
      expected: '--a-#',
      error: REMOTE,
    },
    {
      does: 'unsubscribes from the answer when the caller cancels',
      answer: '  --a--b--c',
      subs: '    ^-----!',
      expected: '--a--b',
      unsub: '   ------!',
    },
  ])(
    '`respond` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { answer, subs, expected, unsub, error }) => {
      const { dialer, acceptor } = createPair();
      const answer$ = cold(answer);
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(dialer.open$('x'), unsub).toBe(expected, undefined, error);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`respond` unsubscribes from the answer when the socket is lost',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const answer$ = cold(' --a--b--c');
      const cut$ = cold('    ------x');
      const subs = '         ^-----!';
      const expected = '     --a--b#';
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      cut$.subscribe(() => link.cut());
      expectObservable(dialer.open$('x')).toBe(expected, undefined, expect.objectContaining({ code: 'CONNECTION_LOST' }));
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`respond` answers each stream by itself: the failure of one leaves the others alone',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const answers = { a: cold('--1-#'), b: cold('---2--3|') };
      const aSubs = '            ^---!';
      const bSubs = '            ^------!';
      acceptor.streams$.pipe(respond((name: 'a' | 'b') => answers[name])).subscribe();
      expectObservable(dialer.open$('a')).toBe('--1-#', undefined, REMOTE);
      expectObservable(dialer.open$('b')).toBe('---2--3|');
      expectSubscriptions(answers.a.subscriptions).toBe(aSubs);
      expectSubscriptions(answers.b.subscriptions).toBe(bSubs);
    }),
  );

  it(
    '`respond` sends a reset for a callback that throws or returns no Observable',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const calls$ = cold('a--b--c');
      const expected = '   a--b--c';
      const subs = '       ^';
      acceptor.streams$
        .pipe(
          respond((name): never => {
            if (name === 'a') throw new RangeError('nothing there');
            if (name === 'b') throw new ResetError(300, 'used up', { limit: 10 });
            return 7 as never;
          }),
        )
        .subscribe();
      const outcomes$ = calls$.pipe(mergeMap((name) => dialer.open$(name).pipe(catchError((error: unknown) => of(error)))));
      expectObservable(outcomes$).toBe(expected, {
        a: expect.objectContaining({ code: 'REMOTE', reason: 'nothing there', payload: { name: 'RangeError', message: 'nothing there' } }),
        b: expect.objectContaining({ code: 'RESET', resetCode: 300, reason: 'used up', payload: { limit: 10 } }),
        c: expect.objectContaining({ code: 'REMOTE', payload: expect.objectContaining({ name: 'TypeError' }) }),
      });
      expectSubscriptions(calls$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`respond` leaves a stream to the handler when the callback returns undefined',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const ours$ = cold('--a|');
      const subs = '      ^--!';
      acceptor.streams$.pipe(respond((name) => (name === 'ours' ? ours$ : undefined))).subscribe();
      acceptor.onStream((_, stream) => stream.reply('from the handler'));
      expectObservable(dialer.open$('ours')).toBe('--a|');
      expectObservable(dialer.open$('other')).toBe('(x|)', { x: 'from the handler' });
      expectSubscriptions(ours$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`respond` leaves a stream to a callback that has subscribed to it and returns undefined',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const input$ = cold('-a--b--|');
      const inputSubs = '  ^------!';
      const expected = '   -a--b--|';
      const echo = (_: unknown, stream: Stream): void => {
        stream.subscribe({ next: (value) => void stream.send(value), complete: () => void stream.end() });
      };
      acceptor.streams$.pipe(respond(echo)).subscribe();
      expectObservable(dialer.open$('x', { input: input$ })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
    }),
  );

  it(
    '`respond` stops an unread upload once the answer is complete',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const input$ = cold(' -a-b---c-d');
      const answer$ = cold('--1--|');
      const inputSubs = '   ^----!';
      const answerSubs = '  ^----!';
      const expected = '    --1--|';
      const onWire = '      odDd-(EN)';
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x', { input: input$ })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    '`respond` stops an upload whose reader leaves as it completes the answer',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const input$ = cold('-a----b---c-d');
      const inputSubs = '  ^-----!';
      const expected = '   -a----(b|)';
      const onWire = '     o(dD)-(dDEN)';
      acceptor.streams$.pipe(respond((_, stream) => stream.pipe(take(2)))).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x', { input: input$ })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
    }),
  );

  it(
    '`respond` stops an upload whose reader leaves at the first item that had waited',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const input$ = cold('-a----b---c-d');
      const inputSubs = '  ^---!';
      const expected = '   ----(a|)';
      const onWire = '     od--(DEN)';
      acceptor.streams$.pipe(respond((_, stream) => timer(4).pipe(mergeMap(() => stream.pipe(take(1)))))).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x', { input: input$ })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
    }),
  );

  it(
    '`respond` stops a running upload when the answer fails after its end',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const input$ = cold(' -a-b-c-d|');
      const answer$ = cold('--#');
      const inputSubs = '   ^-!';
      const answerSubs = '  ^-!';
      const expected = '    a-|';
      const errors = '      --e';
      expectObservable(logged('error')).toBe(errors, {
        e: expect.stringMatching(/^rxmux: peer \d+, stream 1: a handler failed after its stream had ended$/),
      });
      acceptor.streams$
        .pipe(
          respond((_, stream) => {
            void stream.reply('a');
            return answer$;
          }),
        )
        .subscribe();
      expectObservable(dialer.open$('x', { input: input$ })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    '`respond` leaves an upload with a reader running',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const input$ = cold(' -a-b-c-d|');
      const answer$ = cold('--1-|');
      const inputSubs = '   ^-------!';
      const answerSubs = '  ^---!';
      const expected = '    --1-----|';
      const read = '        -a-b-c-d|';
      expectObservable(
        acceptor.streams$.pipe(
          take(1),
          mergeMap((stream) => stream),
        ),
      ).toBe(read);
      cold('x')
        .pipe(mergeMap(() => acceptor.streams$.pipe(respond(() => answer$))))
        .subscribe();
      expectObservable(dialer.open$('x', { input: input$ })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(inputSubs);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it.each<Streams>([
    {
      does: 'waits with its source',
      calls: '   ---------',
      subs: '    ^--------',
      answered: [],
      expected: '---------',
    },
    {
      does: 'completes with a source without a stream',
      calls: '   ---|',
      subs: '    ^--!',
      answered: [],
      expected: '---|',
    },
    {
      does: 'completes after its source and the last answer',
      calls: '   x-x|',
      subs: '    ^--!',
      answered: ['^---!', '--^---!'],
      expected: '------|',
    },
    {
      does: 'passes on an error of its source, and resets the streams in work',
      calls: '   x--#',
      subs: '    ^--!',
      answered: ['^--!'],
      expected: '---#',
    },
  ])(
    '`respond` $does',
    marbles<[Streams]>(({ cold, expectObservable, expectSubscriptions }, { calls, subs, answered, expected }) => {
      const { dialer, acceptor } = createPair();
      const answer$ = cold('--a-|');
      const calls$ = cold(calls);
      const asking$ = defer(() => {
        dialer.notify('x');
        return EMPTY;
      });
      const asked$ = calls$.pipe(mergeMap(() => merge(acceptor.streams$.pipe(take(1)), asking$)));
      expectObservable(asked$.pipe(respond(() => answer$))).toBe(expected);
      expectSubscriptions(calls$.subscriptions).toBe(subs);
      expectSubscriptions(answer$.subscriptions).toBe(answered);
    }),
  );

  it(
    '`respond` resets the streams in work when it is unsubscribed, and accepts no more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const answer$ = cold('--a--b--c');
      const stop$ = cold('  ------x');
      const answerSubs = '  ^-----!';
      const expected = '    --a--b#';
      const later = '       --------#';
      acceptor.streams$
        .pipe(
          respond(() => answer$),
          takeUntil(stop$),
        )
        .subscribe();
      expectObservable(dialer.open$('x')).toBe(expected, undefined, CANCEL);
      expectObservable(cold('--------x').pipe(mergeMap(() => dialer.open$('y')))).toBe(later, undefined, REFUSED);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    '`respond` pulls from an iterable only what the caller takes',
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const { dialer, acceptor } = createPair();
      const calls$ = cold('--x-----|');
      const subs = '       ^-------!';
      const expected = '   --(abc)-|';
      let given = 0;
      let closed = false;
      function* pages(): Generator<string> {
        try {
          for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
            given++;
            yield letter.repeat(100_000);
          }
        } finally {
          closed = true;
        }
      }
      acceptor.streams$.pipe(respond(() => pages())).subscribe();
      const taken$ = dialer.open$<string>('pages').pipe(
        take(3),
        map(([letter]) => letter),
      );
      expectObservable(calls$.pipe(mergeMap(() => taken$))).toBe(expected);
      expectSubscriptions(calls$.subscriptions).toBe(subs);
      flush();
      expect(closed).toBe(true);
      expect(given).toBeLessThan(26);
    }),
  );
});
