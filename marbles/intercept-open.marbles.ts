import { describe, it } from '@jest/globals';
import { catchError, map, mergeMap, of } from 'rxjs';
import { interceptOpen } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { hangsHooks } from './support/hooking.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';
import { collectLogs } from '../spec/support/peer/logs.js';

describe('interceptOpen', () => {
  collectLogs();

  hangsHooks({
    name: 'interceptOpen',
    operator: interceptOpen,
    hooked: ({ dialer }) => dialer,
    act: ({ dialer }) => {
      dialer.notify('x');
    },
  });

  it(
    '`interceptOpen` changes the headers that the remote sees',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const peers$ = cold(' --p', { p: dialer });
      const calls$ = cold(' -c-c');
      const subs = '        ^';
      const expected = '    -a-b';
      peers$
        .pipe(
          interceptOpen((headers, payload) => {
            headers['about'] = payload;
          }),
        )
        .subscribe();
      calls$.subscribe(() => {
        dialer.notify('x', { headers: { of: 'caller' } });
      });
      expectObservable(acceptor.streams$.pipe(map(({ headers }) => headers))).toBe(expected, {
        a: { of: 'caller' },
        b: { of: 'caller', about: 'x' },
      });
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`interceptOpen` fails the call and sends nothing when the callback throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, link } = createPair();
      const peers$ = cold(' --p', { p: dialer });
      const calls$ = cold(' ----c');
      const subs = '        ^';
      const expected = '    ----x';
      const onWire = '      -----';
      const thrown = new Error('not signed in');
      peers$
        .pipe(
          interceptOpen(() => {
            throw thrown;
          }),
        )
        .subscribe();
      const calls = calls$.pipe(mergeMap(() => dialer.request$('x').pipe(catchError((error: unknown) => of(error)))));
      expectObservable(calls).toBe(expected, { x: thrown });
      expectObservable(wire(link)).toBe(onWire);
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );
});
