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
  /** Payloads that go out, and how it ends. */
  readonly sends: readonly unknown[];
  /** Default: nothing. */
  readonly logged?: readonly string[];
}

const FAILURE = 'reset: no';

/** An Observable of another library, which keeps none of the rules. */
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
    what: 'a BehaviorSubject gives its value, and those that follow',
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
    what: 'a ReplaySubject gives all that it has kept',
    input: () => {
      const subject = new ReplaySubject<unknown>(Infinity);
      for (const n of many) subject.next(n);
      subject.complete();
      return subject;
    },
    sends: [...many, 'end'],
  },
  {
    what: 'a Subject that has completed is an end',
    input: () => {
      const subject = new Subject<unknown>();
      subject.complete();
      return subject;
    },
    sends: ['end'],
  },
  { what: 'throwError is a reset', input: () => throwError(() => new Error('no')), sends: [FAILURE] },
  {
    what: 'what emits and fails while it is subscribed to is a reset',
    input: () =>
      new Observable((to) => {
        to.next(1);
        throw new Error('no');
      }),
    sends: [1, FAILURE],
  },
  {
    what: 'what emits, fails and completes after its completion has ended with that',
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
    what: 'what emits from within its own emission sends every value once',
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
    what: 'a teardown that throws at the completion is logged, and takes nothing back',
    logged: ['rxmux: ending an input failed'],
    input: () =>
      new Observable((to) => {
        queueMicrotask(() => {
          to.next(1);
          try {
            to.complete();
          } catch {
            // It is this source's own.
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

/** What a frame of one's own says, in short. */
function said({ type, payload, end, reason }: Envelope): unknown[] {
  if (type === 'reset') return [`reset: ${String(reason)}`];
  return [...(payload === undefined ? [] : [payload]), ...(end === true ? ['end'] : [])];
}

describe.each(WAYS)('an input of %s:', (_way, give) => {
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
