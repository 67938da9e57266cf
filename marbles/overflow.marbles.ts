import { describe, expect, it } from '@jest/globals';
import { map, mergeMap, of, take } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond, through } from '../src/index.js';
import type { Limits, Overflow, Peer } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { known, knowingPair, whenKnown } from './support/known-line.js';
import { marbles } from './support/virtual.js';
import { collectLogs } from '../spec/support/peer/logs.js';

/** One value of the rows. The socket accepts one and a half of them; the queue of a stream is smaller than one. */
const big = (letter: string): string => letter.repeat(700_000);
const small = (value: unknown): string => String(value).slice(0, 1);

interface Row {
  readonly does: string;
  readonly overflow: Overflow | undefined;
  readonly input: string;
  readonly inputSubs: string;
  /** When the remote stops reading (`s`) and when it resumes (`r`). */
  readonly remote: string;
  readonly expected: string;
  /** The values that the remote receives. */
  readonly received: string;
  readonly error?: unknown;
  readonly remoteError?: unknown;
  readonly unsub?: string;
  readonly limits?: Partial<Limits>;
}

const OVERFLOW = expect.objectContaining({ code: 'QUEUE_OVERFLOW', retriable: false });
const CANCEL = expect.objectContaining({ code: 'RESET', resetCode: 8 });
const FULL = 'expected room for the next value, got a full queue (overflow)';

describe('an input that is faster than its reader', () => {
  it.each<Row>([
    {
      does: 'waits with a silent input',
      overflow: 'latest',
      input: '    -----------           ',
      inputSubs: '^                     ',
      remote: '   s------------r        ',
      expected: ' --------------        ',
      received: ' --------------        ',
    },
    {
      does: 'ends with an empty input',
      overflow: 'latest',
      input: '    ---|                  ',
      inputSubs: '^--!                  ',
      remote: '   s------------r        ',
      expected: ' -------------|        ',
      received: ' -------------|        ',
    },
    {
      does: 'sends one value when there is room',
      overflow: 'latest',
      input: '    -a-|                  ',
      inputSubs: '^--!                  ',
      remote: '   s------------r        ',
      expected: ' -------------|        ',
      received: ' -------------(a|)     ',
    },
    {
      does: 'queues every value by default',
      overflow: undefined,
      input: '    -a-b-c-d-e-|          ',
      inputSubs: '^----------!          ',
      remote: '   s------------r        ',
      expected: ' -------------|        ',
      received: ' -------------(abcde|) ',
    },
    {
      does: "queues every value with 'buffer'",
      overflow: 'buffer',
      input: '    -a-b-c-d-e-|          ',
      inputSubs: '^----------!          ',
      remote: '   s------------r        ',
      expected: ' -------------|        ',
      received: ' -------------(abcde|) ',
    },
    {
      does: "fails with 'buffer' beyond maxUnsentBytes",
      overflow: 'buffer',
      limits: { maxUnsentBytes: 1_000_000 },
      input: '    -a-b-c-d-e-|          ',
      inputSubs: '^------!              ',
      remote: '   s------------r        ',
      expected: ' -------#              ',
      received: ' -------------(a#)     ',
      error: OVERFLOW,
      remoteError: CANCEL,
    },
    {
      does: "sends the newest with 'latest'",
      overflow: 'latest',
      input: '    -a-b-c-d-e-|          ',
      inputSubs: '^----------!          ',
      remote: '   s------------r        ',
      expected: ' -------------|        ',
      received: ' -------------(abe|)   ',
    },
    {
      does: "sends new values with 'latest' when there is room again",
      overflow: 'latest',
      input: '    -a-b-c-d------e---|   ',
      inputSubs: '^-----------------!   ',
      remote: '   s-------r             ',
      expected: ' ------------------|   ',
      received: ' --------(abd)-e---|   ',
    },
    {
      does: 'sends the last few values with dropOldest',
      overflow: { dropOldest: 2 },
      input: '    -a-b-c-d-e-|          ',
      inputSubs: '^----------!          ',
      remote: '   s------------r        ',
      expected: ' -------------|        ',
      received: ' -------------(abde|)  ',
    },
    {
      does: "fails with 'error' at the first value without room",
      overflow: 'error',
      input: '    -a-b-c-d-e-|          ',
      inputSubs: '^----!                ',
      remote: '   s------------r        ',
      expected: ' -----#                ',
      received: ' -------------(a#)     ',
      error: expect.objectContaining({ code: 'QUEUE_OVERFLOW', message: `stream 1: ${FULL}`, streamId: 1, retriable: false }),
      remoteError: expect.objectContaining({ code: 'RESET', resetCode: 8, reason: FULL }),
    },
    {
      does: 'drops its kept values when the input fails',
      overflow: 'latest',
      input: '    -a-b-c-d-#            ',
      inputSubs: '^--------!            ',
      remote: '   s------------r        ',
      expected: ' ---------#            ',
      received: ' -------------(ab#)    ',
      error: 'error',
      remoteError: expect.objectContaining({ code: 'REMOTE' }),
    },
    {
      does: 'drops its kept values when the call is unsubscribed',
      overflow: 'latest',
      input: '    -a-b-c-d-e-|          ',
      inputSubs: '^-------!             ',
      remote: '   s------------r        ',
      expected: ' --------              ',
      received: ' -------------(a#)     ',
      remoteError: CANCEL,
      unsub: '    --------!             ',
    },
  ])(
    'An input that is faster than its reader $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, row) => {
      const { dialer, acceptor, link } = knowingPair({ dialer: { limits: row.limits } });
      const input$ = cold(row.input);
      cold(known(row.remote)).subscribe((what) => {
        if (what === 's') link.stall('acceptor');
        else link.resume('acceptor');
      });
      const received$ = acceptor.streams$.pipe(
        take(1),
        mergeMap((stream) => stream.pipe(map(small))),
      );
      acceptor.streams$.subscribe((stream) => void stream.end());
      const call$ = whenKnown().pipe(mergeMap(() => dialer.open$('x', { input: input$.pipe(map(big)), overflow: row.overflow })));
      expectObservable(received$).toBe(known(row.received), undefined, row.remoteError);
      expectObservable(call$, row.unsub === undefined ? undefined : known(row.unsub)).toBe(known(row.expected), undefined, row.error);
      expectSubscriptions(input$.subscriptions).toBe(known(row.inputSubs));
    }),
  );

  it.each<Overflow>(['buffer', 'latest', 'error', { dropOldest: 1 }])(
    'An input with the overflow %j passes every value while there is room',
    marbles<[Overflow]>(({ cold, expectObservable, expectSubscriptions }, overflow) => {
      const { dialer, acceptor } = createPair();
      const input$ = cold('-(abc)-d|');
      const subs = '       ^-------!';
      const expected = '   -(abc)-d|';
      acceptor.streams$.pipe(respond((_, stream) => stream)).subscribe();
      expectObservable(dialer.open$('x', { input: input$, overflow })).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(subs);
    }),
  );
});

describe.each<[string, (acceptor: Peer, values$: Observable<unknown>) => unknown]>([
  ['stream.sendAll', (acceptor, values$) => acceptor.onStream((_, stream) => stream.sendAll(values$, { overflow: 'latest' }))],
  ['respond', ({ streams$ }, values$) => streams$.pipe(respond(() => values$, { overflow: 'latest' })).subscribe()],
])('%s', (how, answer) => {
  it(
    `\`${how}\` applies the overflow policy, and ends after the kept values`,
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const values$ = cold('-a-b-c-d|         ');
      const subs = '        ^-------!         ';
      const remote$ = cold(known('s------------r    '));
      const received = '          -------------(abd|)';
      const { dialer, acceptor, link } = knowingPair();
      answer(acceptor, values$.pipe(map(big)));
      remote$.subscribe((what) => {
        if (what === 's') link.stall('dialer');
        else link.resume('dialer');
      });
      expectObservable(whenKnown().pipe(mergeMap(() => dialer.open$('x').pipe(map(small))))).toBe(known(received));
      expectSubscriptions(values$.subscriptions).toBe(known(subs));
    }),
  );
});

describe('stream.sendAll', () => {
  collectLogs();

  it.each([['`sendAll`, open$ and through throw for an overflow of %j'], [{ dropOldest: 0 }], [{ dropOldest: '3' }]])(
    '`sendAll`, open$ and through throw for an overflow of %j',
    (overflow) => {
      const { dialer } = createPair();
      const stream = dialer.open('x');
      expect(() => stream.sendAll([], { overflow: overflow as Overflow })).toThrow(TypeError);
      expect(() => dialer.open$('x', { overflow: overflow as Overflow })).toThrow(TypeError);
      expect(() => of(1).pipe(through(dialer, 'x', { overflow: overflow as Overflow }))).toThrow(TypeError);
    },
  );
});
