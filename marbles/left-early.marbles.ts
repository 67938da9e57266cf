import { describe, it } from '@jest/globals';
import { Subject, switchMap, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond, through } from '../src/index.js';
import type { Peer } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';

interface Call {
  readonly call: string;
  readonly of: (peer: Peer, input$: Observable<string>) => Observable<unknown>;
}

const CALLS: readonly Call[] = [
  { call: 'open$', of: (peer) => peer.open$('x') },
  { call: 'open$ with retry', of: (peer) => peer.open$('x', { retry: 'safe' }) },
  { call: 'open$ with input', of: (peer, input$) => peer.open$('x', { input: input$ }) },
  { call: 'through', of: (peer, input$) => input$.pipe(through(peer, 'x')) },
  { call: 'request$', of: (peer) => peer.request$('x') },
];

describe.each(CALLS)('$call', ({ call: name, of: call }) => {
  it(
    `\`${name}\` opens no stream for a subscriber that leaves before it is subscribed`,
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const input$ = cold('  a--b--|');
      const answer$ = cold(' a--b--|');
      const calls$ = cold('  --x----');
      const callsSubs = '    ^-!    ';
      const expected = '     --|    ';
      const onWire = '       -------';
      const stop$ = new Subject<void>();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      const stopping = (): Observable<unknown> => {
        stop$.next();
        return call(dialer, input$);
      };
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(calls$.pipe(switchMap(stopping), takeUntil(stop$))).toBe(expected);
      expectSubscriptions(calls$.subscriptions).toBe(callsSubs);
      expectSubscriptions(input$.subscriptions).toBe([]);
      expectSubscriptions(answer$.subscriptions).toBe([]);
    }),
  );
});
