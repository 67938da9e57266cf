import { describe, expect, it } from '@jest/globals';
import { map, mergeMap, of, Subject, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond, through } from '../src/index.js';
import type { Stream } from '../src/index.js';
import { createPair } from '../src/testing.js';
import type { Pair } from '../src/testing.js';
import { marbles } from './support/virtual.js';
import type { OperatorRow } from './support/virtual.js';
import { wire } from './support/wire.js';
import { collectLogs } from '../spec/support/peer/logs.js';

interface Row extends OperatorRow {
  readonly onWire: string;
}

const upperCase = (stream: Stream) => stream.pipe(map((letter) => String(letter).toUpperCase()));

function pairThat(answers: (stream: Stream) => Observable<string>): Pair {
  const pair = createPair();
  pair.acceptor.streams$.pipe(respond((_, stream) => answers(stream))).subscribe();
  return pair;
}

describe('through', () => {
  collectLogs();

  it.each<Row>([
    {
      does: 'sends nothing while its source is silent',
      source: '  ---------',
      subs: '    ^--------',
      expected: '---------',
      onWire: '  o--------',
    },
    {
      does: 'sends the end of an empty source',
      source: '  ----|',
      subs: '    ^---!',
      expected: '----|',
      onWire: '  o---(eE)',
    },
    {
      does: 'emits the answer to a value',
      source: '  --a----|',
      subs: '    ^------!',
      expected: '--A----|',
      onWire: '  o-(dD)-(eE)',
    },
    {
      does: 'emits the answers to many values, in order',
      source: '  -a----b----|',
      subs: '    ^----------!',
      expected: '-A----B----|',
      onWire: '  o(dD)-(dD)-(eE)',
    },
    {
      does: 'resets the stream with the error of its source, and errors with it',
      source: '  -a----#',
      subs: '    ^-----!',
      expected: '-A----#',
      onWire: '  o(dD)-f',
    },
    {
      does: 'cancels the stream and unsubscribes from its source when it is unsubscribed',
      source: '  -a----b----c',
      subs: '    ^----------!',
      expected: '-A----B',
      onWire: '  o(dD)-(dD)-r',
      unsub: '   -----------!',
    },
  ])(
    '`through` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { source, subs, expected, onWire, unsub }) => {
      const { dialer, link } = pairThat(upperCase);
      const source$ = cold(source);
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(source$.pipe(through(dialer, 'upper case')), unsub).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`through` opens a stream for each subscription',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, link } = pairThat(upperCase);
      const source$ = cold('--a---------|');
      const subs1 = '       ^-----------!';
      const subs2 = '       ------^-----------!';
      const expected1 = '   --A---------|';
      const expected2 = '   --------A---------|';
      const onWire = '      o-(dD)o-(dD)(eE)--(eE)';
      const upper$ = source$.pipe(through(dialer, 'upper case'));
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(upper$).toBe(expected1);
      expectObservable(upper$, '------^').toBe(expected2);
      expectSubscriptions(source$.subscriptions).toBe([subs1, subs2]);
    }),
  );

  it(
    '`through` unsubscribes from its source when the remote needs no more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, link } = pairThat(() => of('x'));
      const source$ = cold('-a-b');
      const subs = '        (^!)';
      const expected = '    (x|)';
      const onWire = '      (oDEN)';
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(source$.pipe(through(dialer))).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`through` unsubscribes from its source when the remote fails',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, link } = pairThat((stream) => stream.pipe(mergeMap(() => throwError(() => new Error('no')))));
      const source$ = cold('---a---b');
      const subs = '        ^--!';
      const expected = '    ---#';
      const onWire = '      o--(dF)';
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(source$.pipe(through(dialer))).toBe(expected, undefined, expect.objectContaining({ code: 'REMOTE', reason: 'no' }));
      expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`through` leaves its source alone when an open interceptor throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, link } = pairThat(upperCase);
      const source$ = cold('---a---b');
      const expected = '    #';
      const onWire = '      -';
      const refusal = new Error('not allowed');
      dialer.interceptOpen(() => {
        throw refusal;
      });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(source$.pipe(through(dialer, 'upper case'))).toBe(expected, undefined, refusal);
      expectSubscriptions(source$.subscriptions).toBe([]);
    }),
  );

  it(
    '`through` completes only when the remote has ended as well',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = new Subject<string>();
      const { dialer } = pairThat(() => answer$);
      const source$ = cold('-a-b|');
      const answers = cold('--x----y|');
      const subs = '        ^---!';
      const expected = '    --x----y|';
      expectObservable(source$.pipe(through(dialer))).toBe(expected);
      expectSubscriptions(source$.subscriptions).toBe(subs);
      answers.subscribe(answer$);
    }),
  );
});
