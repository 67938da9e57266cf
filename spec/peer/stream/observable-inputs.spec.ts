import { describe, expect, it } from '@jest/globals';
import { BehaviorSubject, Observable, observable, ReplaySubject, Subject, tap, throwError } from 'rxjs';
import type { Observer, Unsubscribable } from 'rxjs';
import { respond, through } from '../../../src/index.js';
import type { Peer } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import type { Envelope } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

interface Row {
  readonly what: string;
  readonly input: () => Observable<unknown>;
  /** The sent payloads, and the end or the reset. */
  readonly sends: readonly unknown[];
  /** Default: none. */
  readonly logged?: readonly string[];
}

const FAILURE = 'reset: no';

/** An Observable of another library, which breaks the contract of Observables. */
function foreign(emit: (to: Observer<unknown>) => void): Observable<unknown> {
  const subscribe = (to: Observer<unknown>): Unsubscribable => {
    emit(to);
    return { unsubscribe: () => undefined };
  };
  return { [observable]: () => ({ subscribe }) } as unknown as Observable<unknown>;
}

const many = Array.from({ length: 1_000 }, (_, n) => n);

const ROWS: readonly Row[] = [
  {
    what: 'A BehaviorSubject sends its current value and later ones',
    input: () => {
      const subject = new BehaviorSubject<unknown>('now');
      queueMicrotask(() => {
        subject.next('later');
        subject.complete();
      });
      return subject;
    },
    sends: ['now', 'later', 'end'],
  },
  {
    what: 'A ReplaySubject sends all its kept values',
    input: () => {
      const subject = new ReplaySubject<unknown>(Infinity);
      for (const n of many) subject.next(n);
      subject.complete();
      return subject;
    },
    sends: [...many, 'end'],
  },
  {
    what: 'A completed Subject sends an end',
    input: () => {
      const subject = new Subject<unknown>();
      subject.complete();
      return subject;
    },
    sends: ['end'],
  },
  { what: '`throwError` sends a reset', input: () => throwError(() => new Error('no')), sends: [FAILURE] },
  {
    what: 'An Observable that emits and throws while it is subscribed to sends a reset',
    input: () =>
      new Observable((to) => {
        to.next(1);
        throw new Error('no');
      }),
    sends: [1, FAILURE],
  },
  {
    what: 'An Observable that emits, fails and completes again sends its first end only',
    input: () =>
      foreign((to) => {
        to.next(1);
        to.complete();
        to.next(2);
        to.error(new Error('late'));
        to.complete();
      }),
    sends: [1, 'end'],
  },
  {
    what: 'An Observable that emits within its own emission sends every value once',
    input: () => {
      const subject = new Subject<number>();
      queueMicrotask(() => {
        subject.next(1);
        subject.complete();
      });
      return subject.pipe(
        tap((n) => {
          if (n < 3) subject.next(n + 1);
        }),
      );
    },
    sends: [3, 2, 1, 'end'],
  },
  {
    what: 'A teardown that throws at the completion is logged, and the end is sent',
    logged: ['rxmux: ending an input failed'],
    input: () =>
      new Observable((to) => {
        queueMicrotask(() => {
          to.next(1);
          try {
            to.complete();
          } catch {
            // The error belongs to this source.
          }
        });
        return () => {
          throw new Error('a teardown');
        };
      }),
    sends: [1, 'end'],
  },
];

const WAYS: readonly (readonly [string, (dialer: Peer, acceptor: Peer, make: () => Observable<unknown>) => Peer])[] = [
  [
    'open$',
    (dialer, _acceptor, make) => {
      dialer.open$('p', { input: make() }).subscribe({ error: () => undefined });
      return dialer;
    },
  ],
  [
    'through',
    (dialer, _acceptor, make) => {
      through(dialer, 'p')(make()).subscribe({ error: () => undefined });
      return dialer;
    },
  ],
  [
    'sendAll',
    (dialer, _acceptor, make) => {
      void dialer.open('p').sendAll(make());
      return dialer;
    },
  ],
  [
    'respond',
    (dialer, acceptor, make) => {
      acceptor.streams$.pipe(respond(make)).subscribe();
      dialer.open$('p').subscribe({ error: () => undefined });
      return acceptor;
    },
  ],
];

/** A sent frame in short. */
function said({ type, payload, end, reason }: Envelope): unknown[] {
  if (type === 'reset') return [`reset: ${String(reason)}`];
  return [...(payload === undefined ? [] : [payload]), ...(end === true ? ['end'] : [])];
}

describe.each(WAYS)('Input of %s', (_way, give) => {
  it.each(ROWS)('$what', async ({ input, sends, logged = [] }) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: () => undefined });
      return stream.closed;
    });
    const sides = { dialer: framesOf(dialer), acceptor: framesOf(acceptor) };
    const sender = give(dialer, acceptor, input);
    await time.advance();
    const frames = sender === dialer ? sides.dialer.slice(1) : sides.acceptor;
    expect(frames.flatMap(said)).toEqual(sends);
    const reported = sender === acceptor && sends.includes(FAILURE) ? [expect.stringContaining('a handler failed')] : [];
    expect(logs.errors).toEqual([...logged, ...reported]);
  });
});
