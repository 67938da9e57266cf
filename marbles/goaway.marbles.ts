import { describe, expect, it } from '@jest/globals';
import { elementAt, map, mergeMap, Subject } from 'rxjs';
import { ResetCode, respond } from '../src/index.js';
import type { Frame } from '../src/index.js';
import { createPair, frameMarbles, peerFromMarbles } from '../src/testing.js';
import { marbles } from './support/virtual.js';
import { letterOf, wire } from './support/wire.js';

/** Goaways by the streams they cut: `g` all, `h` those above 1, `k` those above 3, `u` none, `f` all, with an error. */
const FRAMES: Readonly<Record<string, Frame>> = frameMarbles(1, {
  h: { type: 'goaway', stream: null, code: ResetCode.NO_ERROR, last_stream: 1 },
  k: { type: 'goaway', stream: null, code: ResetCode.NO_ERROR, last_stream: 3 },
  u: { type: 'goaway', stream: null, code: ResetCode.NO_ERROR },
  f: { type: 'goaway', stream: null, code: ResetCode.INTERNAL_ERROR, last_stream: 0 },
  D: { stream: 3, payload: 'D' },
  E: { stream: 3, end: true },
});

/** The error of a refused stream. A call after the goaway is not retriable: this peer opens no more streams. */
const refusal = (retriable: boolean): unknown => expect.objectContaining({ code: 'REFUSED', retriable, resetCode: null });

interface Row {
  readonly does: string;
  readonly inbound: string;
  readonly subs: string;
  /** When this side opens a stream: first stream 1, then stream 3. */
  readonly opens: string;
  readonly outbound: string;
  /** How the first stream ends, and how the second does. */
  readonly stream1: string;
  readonly stream3: string;
  /** Whether stream 3 opens after the goaway. Default `false`. */
  readonly isLate?: true;
}

describe('an inbound goaway', () => {
  it.each<Row>([
    {
      does: 'accepts streams up to last_stream and refuses those above',
      inbound: '   ---d-h-d-e---',
      subs: '      ^------------',
      opens: '     -o-o---------',
      outbound: '  -o-o---------',
      stream1: '   ---d---d-|   ',
      stream3: '   -----#       ',
    },
    {
      does: 'refuses every stream when last_stream is 0',
      inbound: '   ---d-g---',
      subs: '      ^--------',
      opens: '     -o-o-----',
      outbound: '  -o-o-----',
      stream1: '   ---d-#   ',
      stream3: '   -----#   ',
    },
    {
      does: 'refuses no stream without last_stream',
      inbound: '   ---d-u-D-E-e---',
      subs: '      ^--------------',
      opens: '     -o-o-----------',
      outbound: '  -o-o-----------',
      stream1: '   ---d-------|   ',
      stream3: '   -------D-|     ',
    },
    {
      does: 'refuses later calls, and none of them is sent',
      inbound: '   ---h-d-e---',
      subs: '      ^----------',
      opens: '     -o---o-----',
      outbound: '  -o---------',
      stream1: '   -----d-|   ',
      stream3: '   -----#     ',
      isLate: true,
    },
    {
      does: 'lowers the cut of the one before',
      inbound: '   ---k-h-d-e---',
      subs: '      ^------------',
      opens: '     -oo----------',
      outbound: '  -oo----------',
      stream1: '   -------d-|   ',
      stream3: '   -----#       ',
    },
    {
      does: 'never raises the cut of the one before',
      inbound: '   ---h-k-e---',
      subs: '      ^----------',
      opens: '     -oo--------',
      outbound: '  -oo--------',
      stream1: '   -------|   ',
      stream3: '   ---#       ',
    },
    {
      does: 'leaves pings answered',
      inbound: '   ---h-p-e---',
      subs: '      ^----------',
      opens: '     -o---------',
      outbound: '  -o---q-----',
      stream1: '   -------|   ',
      stream3: '   -----------',
    },
  ])(
    'An inbound goaway $does',
    marbles<[Row]>((helpers, { inbound, subs, opens, outbound, stream1, stream3, isLate = false }) => {
      const { cold, expectObservable, expectSubscriptions } = helpers;
      const given = peerFromMarbles(helpers, inbound, FRAMES, { isDialer: true });
      const opened = (nth: number) =>
        cold(opens).pipe(
          elementAt(nth),
          mergeMap(() => given.peer.open$('x')),
        );
      expectObservable(given.outbound$.pipe(map(letterOf))).toBe(outbound);
      expectObservable(opened(0)).toBe(stream1, undefined, refusal(true));
      expectObservable(opened(1)).toBe(stream3, undefined, refusal(!isLate));
      expectSubscriptions(given.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    'After a goaway with an error code the peer waits one second for the remote to close',
    marbles((helpers) => {
      const inbound = '  --f               ';
      const subs = '     ^- 1s !        ';
      const expected = ' -- 1s (c|)     ';
      const given = peerFromMarbles(helpers, inbound, FRAMES);
      helpers.expectObservable(given.peer.closes$.pipe(map(({ code }) => code))).toBe(expected, { c: 1000 });
      helpers.expectSubscriptions(given.inbound.subscriptions).toBe(subs);
    }),
  );
});

describe('an outbound goaway', () => {
  it(
    'An outbound goaway names the highest stream with a called handler, and that stream finishes',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold('  -a-b--------');
      const answer$ = cold('  ---1---|  ');
      const close$ = cold('  -----c------');
      const answerSubs = ['  -^------!   ', '---^------!'];
      const expected = '     ----1-1-----';
      const goaway = '       -----g----';
      const { dialer, acceptor, link } = createPair();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      close$.subscribe(() => void acceptor.close({ drainMs: 100 }));
      const goaways$ = new Subject<unknown>();
      link.messages$.subscribe(({ from, frame }) => {
        if (frame.type === 'goaway') goaways$.next([from, frame.last_stream]);
      });
      expectObservable(goaways$).toBe(goaway, { g: ['acceptor', 3] });
      expectObservable(calls$.pipe(mergeMap((name) => dialer.open$(name)))).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    'The sender of a goaway refuses streams that the remote opens before it has read the goaway',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold(' ------1--|');
      const call$ = cold('  -a|');
      const close$ = cold(' -----c');
      const late$ = cold('  ------b|');
      const answerSubs = '  ---^--------!';
      const expected = '    -----------1--|';
      const refused = '     -------#';
      const onWire = '      -o---Go-X';
      const { dialer, acceptor, link } = createPair({ latencyMs: 2 });
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      close$.subscribe(() => void acceptor.close({ drainMs: 100 }));
      expectObservable(wire(link), '---------!').toBe(onWire);
      expectObservable(call$.pipe(mergeMap(() => dialer.open$('a')))).toBe(expected);
      expectObservable(late$.pipe(mergeMap(() => dialer.open$('b')))).toBe(
        refused,
        undefined,
        expect.objectContaining({ code: 'REFUSED', retriable: true }),
      );
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );
});
