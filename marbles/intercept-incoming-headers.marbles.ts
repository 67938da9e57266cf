import { describe, it } from '@jest/globals';
import { map, mergeMap, Subject } from 'rxjs';
import { interceptIncomingHeaders, logger } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { hangsHooks } from './support/hooking.js';
import { marbles } from './support/virtual.js';

describe('interceptIncomingHeaders', () => {
  hangsHooks({
    name: 'interceptIncomingHeaders',
    operator: interceptIncomingHeaders,
    hooked: ({ acceptor }) => acceptor,
    act: ({ dialer }) => {
      dialer.notify('x');
    },
  });

  it(
    "`interceptIncomingHeaders` sees the remote's headers once per stream, at both ends",
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const peers$ = cold('(pq)', { p: dialer, q: acceptor });
      const calls$ = cold(' -----c---c');
      const subs = '        ^';
      const expected = '    -----(or)(or)';
      const seen$ = new Subject<unknown>();
      acceptor.onStream((_, stream) => {
        void stream.send(1, { headers: { of: 'handler' } });
        void stream.reply(2);
      });
      peers$
        .pipe(
          interceptIncomingHeaders((headers, stream) => {
            seen$.next([stream.local, headers]);
          }),
        )
        .subscribe();
      calls$.pipe(mergeMap(() => dialer.open$('x', { headers: { of: 'caller' } }))).subscribe();
      expectObservable(seen$).toBe(expected, { o: [false, { of: 'caller' }], r: [true, { of: 'handler' }] });
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`interceptIncomingHeaders` leaves the stream alone when the callback throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const peers$ = cold(' --p', { p: acceptor });
      const calls$ = cold(' ----c');
      const subs = '        ^';
      const expected = '    ----x';
      logger.level = 'silent';
      acceptor.onStream((payload, stream) => stream.reply(payload));
      peers$
        .pipe(
          interceptIncomingHeaders(() => {
            throw new Error('seen');
          }),
        )
        .subscribe();
      expectObservable(
        calls$.pipe(
          mergeMap(() => dialer.request$('x')),
          map(String),
        ),
      ).toBe(expected);
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );
});
