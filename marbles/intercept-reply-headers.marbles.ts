import { describe, expect, it } from '@jest/globals';
import { catchError, mergeMap, of } from 'rxjs';
import { interceptReplyHeaders } from '../src/index.js';
import type { Stream } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { hangsHooks } from './support/hooking.js';
import { marbles } from './support/virtual.js';
import { collectLogs } from '../spec/support/peer/logs.js';

describe('interceptReplyHeaders', () => {
  collectLogs();

  hangsHooks({
    name: 'interceptReplyHeaders',
    operator: interceptReplyHeaders,
    hooked: ({ acceptor }) => acceptor,
    act: ({ dialer }) => {
      dialer.request$('x').subscribe();
    },
  });

  it(
    '`interceptReplyHeaders` changes the headers that the caller sees, once per stream',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const peers$ = cold(' --p', { p: acceptor });
      const calls$ = cold(' -c-c');
      const subs = '        ^';
      const expected = '    -a-b';
      acceptor.onStream((_, stream) => {
        void stream.send(1, { headers: { of: 'handler' } });
        void stream.reply(2);
      });
      peers$
        .pipe(
          interceptReplyHeaders((headers, stream) => {
            headers['about'] = stream.payload;
          }),
        )
        .subscribe();
      const headers$ = calls$.pipe(mergeMap(() => dialer.open('x', { end: true }).replyHeaders$));
      expectObservable(headers$).toBe(expected, { a: { of: 'handler' }, b: { of: 'handler', about: 'x' } });
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`interceptReplyHeaders` resets the stream when the callback throws as a handler ends',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const peers$ = cold(' --p', { p: acceptor });
      const calls$ = cold(' ----c');
      const subs = '        ^';
      const expected = '    ----x';
      acceptor.onStream(() => undefined);
      peers$
        .pipe(
          interceptReplyHeaders(() => {
            throw new Error('no headers');
          }),
        )
        .subscribe();
      const outcomes$ = calls$.pipe(mergeMap(() => dialer.request$('x').pipe(catchError((error: unknown) => of(error)))));
      expectObservable(outcomes$).toBe(expected, { x: expect.objectContaining({ code: 'REMOTE', reason: 'no headers' }) });
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`interceptReplyHeaders` fails the sending call and keeps the first frame when the callback throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const peers$ = cold(' --p', { p: acceptor });
      const calls$ = cold(' ----c');
      const subs = '        ^';
      const expected = '    ----x';
      let attempts = 0;
      const twice = (stream: Stream): void => {
        expect(() => stream.send('first')).toThrow('once');
        void stream.reply('second');
      };
      acceptor.onStream((_, stream) => {
        twice(stream);
      });
      peers$
        .pipe(
          interceptReplyHeaders((headers) => {
            if (++attempts === 1) throw new Error('once');
            headers['attempts'] = attempts;
          }),
        )
        .subscribe();
      const answers$ = calls$.pipe(mergeMap(() => dialer.open$('x')));
      expectObservable(answers$).toBe(expected, { x: 'second' });
      expectSubscriptions(peers$.subscriptions).toBe(subs);
    }),
  );
});
