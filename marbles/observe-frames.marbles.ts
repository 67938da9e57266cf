import { describe, it } from '@jest/globals';
import { mergeMap, Subject } from 'rxjs';
import { logger, observeFrames } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { hangsHooks } from './support/hooking.js';
import { marbles } from './support/virtual.js';
import { letterOf } from './support/wire.js';

describe('observeFrames', () => {
  hangsHooks({
    name: 'observeFrames',
    operator: (seen) =>
      observeFrames((direction) => {
        if (direction === 'tx') seen();
      }),
    hooked: ({ dialer }) => dialer,
    act: ({ dialer }) => {
      dialer.notify('x');
    },
  });

  it(
    '`observeFrames` sees each frame sent and received, in order',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const peers$ = cold(' --p', { p: dialer });
      const calls$ = cold(' -c-c----c');
      const subs = '        ^';
      const expected = '    ---(oE)-(oE)';
      const seen$ = new Subject<string>();
      acceptor.onStream((payload, stream) => stream.reply(payload));
      peers$
        .pipe(observeFrames((direction, frame) => seen$.next(direction === 'tx' ? letterOf(frame) : letterOf(frame).toUpperCase())))
        .subscribe();
      calls$.pipe(mergeMap(() => dialer.request$('x'))).subscribe();
      expectObservable(seen$).toBe(expected);
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`observeFrames` leaves the frames alone when the callback throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const peers$ = cold(' --p', { p: dialer });
      const calls$ = cold(' ----c');
      const subs = '        ^';
      const expected = '    ----x';
      logger.level = 'silent';
      acceptor.onStream((payload, stream) => stream.reply(payload));
      peers$
        .pipe(
          observeFrames(() => {
            throw new Error('seen');
          }),
        )
        .subscribe();
      expectObservable(calls$.pipe(mergeMap(() => dialer.request$('x')))).toBe(expected);
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );
});
