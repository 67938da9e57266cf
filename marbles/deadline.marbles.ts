import { describe, expect, it } from '@jest/globals';
import { mergeMap } from 'rxjs';
import { respond } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { dialed } from './support/dialing.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';
import { collectLogs } from '../spec/support/peer/logs.js';

interface Row {
  readonly does: string;
  /** The row of the server's source, counted from the open. */
  readonly answer: string;
  readonly subs: string;
  readonly expected: string;
  readonly onWire: string;
  readonly unsub?: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

const LATE = expect.objectContaining({ code: 'DEADLINE_EXCEEDED', timeoutMs: 5, retriable: false });
const REMOTE = expect.objectContaining({ code: 'REMOTE' });

describe('a deadline of 5 ms on request$', () => {
  collectLogs();

  it.each<Row>([
    {
      does: 'resets the stream when no answer has come by then',
      answer: '  ---------',
      subs: '    ^----!   ',
      expected: '-----#   ',
      onWire: '  o----t   ',
      error: LATE,
    },
    {
      does: 'is lifted by an end without a value',
      answer: '  ---|',
      subs: '    ^--!',
      expected: '---(n|)',
      onWire: '  o--E',
      values: { n: null },
    },
    {
      does: 'is lifted by an answer and its end',
      answer: '  --a|',
      subs: '    ^--!',
      expected: '--(a|)',
      onWire: '  o-DE',
    },
    {
      does: 'resets the stream of an answer that never ends, unseen by the caller',
      answer: '  --a------',
      subs: '    ^----!   ',
      expected: '--(a|)   ',
      onWire: '  o-D--t   ',
    },
    {
      does: 'is lifted by a failure',
      answer: '  ---#',
      subs: '    ^--!',
      expected: '---#',
      onWire: '  o--F',
      error: REMOTE,
    },
    {
      does: 'is lifted when the caller unsubscribes',
      answer: '  ---------',
      subs: '    ^--!     ',
      expected: '---      ',
      onWire: '  o--r     ',
      unsub: '   ---!     ',
    },
  ])(
    'A deadline of 5 ms on request$ $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { answer, subs, expected, onWire, unsub, values, error }) => {
      const { dialer, acceptor, link } = createPair();
      const answer$ = cold(answer);
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.request$('x', { timeoutMs: 5 }), unsub).toBe(expected, values, error);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );
});

describe('a deadline of 5 ms on open$', () => {
  it.each<Row>([
    {
      does: 'resets the stream when no value has come by then',
      answer: '  ---------',
      subs: '    ^----!   ',
      expected: '-----#   ',
      onWire: '  o----t   ',
      error: LATE,
    },
    {
      does: 'is lifted by the end of the stream',
      answer: '  -a-b|',
      subs: '    ^---!',
      expected: '-a-b|',
      onWire: '  oD-DE',
    },
    {
      does: 'covers the whole stream: it also resets it after some values',
      answer: '  -a-b--(cd)',
      subs: '    ^----!   ',
      expected: '-a-b-#   ',
      onWire: '  oD-D-t   ',
      error: LATE,
    },
  ])(
    'A deadline of 5 ms on open$ $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { answer, subs, expected, onWire, error }) => {
      const { dialer, acceptor, link } = createPair();
      const answer$ = cold(answer);
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x', { timeoutMs: 5 })).toBe(expected, undefined, error);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );
});

describe('a deadline', () => {
  collectLogs();

  it(
    'The default deadline is 30 s for requests, and none for other calls',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('    ---');
      const stop$ = cold('      31s x');
      const requestSubs = '     ^ 29999ms !';
      const openSubs = '        ^ 30999ms !';
      const expectedRequest = ' 30s #';
      const expectedOpen = '    31s #';
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      stop$.subscribe(() => void dialer.close());
      expectObservable(dialer.request$('x')).toBe(expectedRequest, undefined, expect.objectContaining({ timeoutMs: 30_000 }));
      expectObservable(dialer.open$('x')).toBe(expectedOpen, undefined, expect.objectContaining({ code: 'CANCELLED' }));
      expectSubscriptions(answer$.subscriptions).toBe([requestSubs, openSubs]);
    }),
  );

  it.each([0, Infinity])(
    'A timeoutMs of %d sets no deadline',
    marbles<[number]>(({ cold, expectObservable, expectSubscriptions }, timeoutMs) => {
      const answer$ = cold(' 1440m a');
      const subs = '         ^';
      const expected = '     1440m (a|)';
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(dialer.request$('x', { timeoutMs })).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    'A deadline runs while the call waits for a connection; a late call is never sent',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold('   --c');
      const opens$ = cold('   ----------x');
      const callSubs = '      ^------!';
      const expected = '      -------#';
      const arrived = '       -----------';
      const { server, dial } = dialed((peer) => peer.onStream(() => undefined));
      server.refuse(0);
      const peer = dial({ reconnect: { minDelayMs: 20, maxDelayMs: 20, maxAttempts: 100 } });
      opens$.subscribe(() => {
        server.refuse(null);
      });
      const error = expect.objectContaining({ code: 'DEADLINE_EXCEEDED', streamId: null });
      expectObservable(calls$.pipe(mergeMap(() => peer.request$('x', { timeoutMs: 5 })))).toBe(expected, undefined, error);
      expectObservable(server.peers$.pipe(mergeMap(({ streams$ }) => streams$)), '-----------!').toBe(arrived);
      expectSubscriptions(calls$.subscriptions).toBe(callSubs);
    }),
  );

  it(
    'Each call has its own deadline',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold(' ------');
      const subs1 = '        ^-!';
      const subs2 = '        ^---!';
      const subs3 = '        ^!';
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      const late = (timeoutMs: number): unknown => expect.objectContaining({ code: 'DEADLINE_EXCEEDED', timeoutMs });
      expectObservable(dialer.request$('x', { timeoutMs: 2 })).toBe('--#', undefined, late(2));
      expectObservable(dialer.request$('x', { timeoutMs: 4 })).toBe('----#', undefined, late(4));
      expectObservable(dialer.request$('x', { timeoutMs: 1 })).toBe('-#', undefined, late(1));
      expectSubscriptions(answer$.subscriptions).toBe([subs1, subs2, subs3]);
    }),
  );
});
