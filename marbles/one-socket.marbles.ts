import { describe, it } from '@jest/globals';
import { concatMap, delay, map, mergeMap, of, take } from 'rxjs';
import type { Observable } from 'rxjs';
import { respond } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { marbles } from './support/virtual.js';

/** The letters of streams: small ones from the client, capital ones from the server. */
const LETTERS: Readonly<Record<number, string>> = { 1: 'u', 3: 'p', 5: 'q' };

describe('one socket', () => {
  it(
    'Three streams share a socket: their frames interleave, and each stream gets its own',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const upload$ = cold('--u--u--u--u-----|');
      const prices$ = cold(' ---P--P--P--P--P ');
      const answer$ = cold('      ---Q--|     ');
      const uploadSubs = '  ^----------------!';
      const pricesSubs = '  -^-----------!    ';
      const answerSubs = '  ------^-----!     ';
      const onSocket = '    upu-PuqPuQPuQ(Pp)u';
      const uploaded = '    --u--u--u--u-----|';
      const prices = '      ----P--P--P--(P|) ';
      const answered = '    ---------(Q|)     ';
      const { dialer, acceptor, link } = createPair();
      const answers: Readonly<Record<string, Observable<string>>> = { prices: prices$, question: answer$ };
      acceptor.streams$.pipe(respond((payload: string) => answers[payload])).subscribe();
      const uploaded$ = acceptor.streams$.pipe(
        take(1),
        concatMap((stream) => stream),
      );
      const after = (ms: number, call$: Observable<string>): Observable<string> =>
        of(null).pipe(
          delay(ms),
          mergeMap(() => call$),
        );
      const socket$ = link.messages$.pipe(
        map(({ from, frame }) => {
          const letter = LETTERS[Number(frame.stream)] ?? '?';
          return from === 'dialer' ? letter : letter.toUpperCase();
        }),
      );
      expectObservable(socket$).toBe(onSocket);
      expectObservable(uploaded$).toBe(uploaded);
      expectObservable(dialer.open$('upload', { input: upload$ })).toBe('');
      expectObservable(after(1, dialer.open$<string>('prices').pipe(take(4)))).toBe(prices);
      expectObservable(after(6, dialer.request$<string>('question'))).toBe(answered);
      expectSubscriptions(upload$.subscriptions).toBe(uploadSubs);
      expectSubscriptions(prices$.subscriptions).toBe(pricesSubs);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );
});
