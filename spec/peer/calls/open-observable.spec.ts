import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { config, map, Subject, Subscription, UnsubscriptionError } from 'rxjs';
import type { Observable } from 'rxjs';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { throws } from '../../support/peer/user-code.js';

const time = virtualPeerTime();

let told: unknown[] = [];
beforeEach(() => {
  told = [];
  config.onUnhandledError = (error: unknown) => told.push(`unhandled: ${String(error)}`);
});
afterEach(() => {
  config.onUnhandledError = null;
});

/** Answers with two values and an end. */
const counts: StreamHandler = (_, stream) => {
  void stream.send(1);
  return stream.reply(2);
};
/** Answers with one value, and keeps the stream. */
const stays: StreamHandler = (_, stream) => {
  void stream.send(1);
  return new Promise(() => undefined);
};
const fails: StreamHandler = (_, stream) => {
  void stream.send(1);
  stream.reset(300, 'no');
};

const UNSUBSCRIBED = { type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' };

/** Records each event in `told`. */
const tell = {
  next: (value: unknown) => void told.push(value),
  error: (error: unknown) => void told.push(String(error)),
  complete: () => void told.push('complete'),
};

class Counter {
  seen = 0;

  next(): void {
    this.seen++;
  }

  complete(): void {
    told.push(`${this.seen} seen`);
  }
}

interface Row {
  readonly title: string;
  readonly handler: StreamHandler;
  readonly payload?: unknown;
  readonly subscribe: (received$: Observable<unknown>) => Subscription;
  readonly later?: (subscription: Subscription) => void;
  readonly told: readonly unknown[];
  /** Frames after the open. */
  readonly sent?: readonly unknown[];
  readonly closed: boolean;
}

/** The signature with functions, which rxjs has deprecated and many programs use. */
function withFunctions(received$: Observable<unknown>, ...handlers: unknown[]): Subscription {
  const { subscribe } = received$ as { readonly subscribe: (...given: unknown[]) => Subscription };
  return subscribe.apply(received$, handlers);
}

const no = throws('no');

const ROWS: readonly Row[] = [
  { title: 'an observer', handler: counts, subscribe: ($) => $.subscribe(tell), told: [1, 2, 'complete'], closed: true },
  {
    title: 'three functions',
    handler: counts,
    subscribe: ($) => withFunctions($, tell.next, tell.error, tell.complete),
    told: [1, 2, 'complete'],
    closed: true,
  },
  { title: 'one function', handler: counts, subscribe: ($) => $.subscribe(tell.next), told: [1, 2], closed: true },
  { title: 'nothing', handler: counts, subscribe: ($) => $.subscribe(), told: [], closed: true },
  {
    title: 'null in place of handlers',
    handler: counts,
    subscribe: ($) => withFunctions($, null, null, tell.complete),
    told: ['complete'],
    closed: true,
  },
  {
    title: 'an observer whose handlers use this',
    handler: counts,
    subscribe: ($) => $.subscribe(new Counter()),
    told: ['2 seen'],
    closed: true,
  },
  {
    title: 'a Subject',
    handler: counts,
    subscribe: ($) => {
      const subject = new Subject<unknown>();
      subject.subscribe(tell);
      return $.subscribe(subject);
    },
    told: [1, 2, 'complete'],
    closed: true,
  },
  {
    title: 'a Subject whose next throws',
    handler: counts,
    subscribe: ($) => $.subscribe(Object.assign(new Subject<unknown>(), { next: no })),
    told: ['unhandled: Error: no', 'unhandled: Error: no'],
    closed: true,
  },
  {
    title: 'an observer of a stream that is reset',
    handler: fails,
    subscribe: ($) => $.subscribe(tell),
    told: [1, 'ResetError: stream 1: reset with 300: no'],
    closed: true,
  },
  {
    title: 'an observer without an error handler',
    handler: fails,
    subscribe: ($) => $.subscribe({ next: tell.next }),
    told: [1, 'unhandled: ResetError: stream 1: reset with 300: no'],
    closed: true,
  },
  {
    title: 'a next that throws',
    handler: counts,
    subscribe: ($) => $.subscribe({ next: no, complete: tell.complete }),
    told: ['complete', 'unhandled: Error: no', 'unhandled: Error: no'],
    closed: true,
  },
  {
    title: 'an error handler that throws',
    handler: fails,
    subscribe: ($) => $.subscribe({ error: no }),
    told: ['unhandled: Error: no'],
    closed: true,
  },
  {
    title: 'a complete that throws',
    handler: counts,
    subscribe: ($) => $.subscribe({ complete: no }),
    told: ['unhandled: Error: no'],
    closed: true,
  },
  {
    title: 'a payload that cannot be sent',
    handler: counts,
    payload: 1n,
    subscribe: ($) => $.subscribe(tell),
    told: ["TypeError: codec 'json': expected a value it can carry at payload, got a bigint"],
    closed: true,
  },
  {
    title: 'a payload that cannot be sent, without an error handler',
    handler: counts,
    payload: 1n,
    subscribe: ($) => $.subscribe(),
    told: ["unhandled: TypeError: codec 'json': expected a value it can carry at payload, got a bigint"],
    closed: true,
  },
  { title: 'an observer of a stream that stays', handler: stays, subscribe: ($) => $.subscribe(tell), told: [1], closed: false },
  {
    title: 'an observer that leaves',
    handler: stays,
    subscribe: ($) => $.subscribe(tell),
    later: (subscription) => {
      subscription.unsubscribe();
      subscription.unsubscribe();
    },
    told: [1],
    sent: [UNSUBSCRIBED],
    closed: true,
  },
  {
    title: 'an observer that leaves with others',
    handler: stays,
    subscribe: ($) => {
      const all = new Subscription();
      all.add($.subscribe(tell));
      return all;
    },
    later: (all) => {
      all.unsubscribe();
    },
    told: [1],
    sent: [UNSUBSCRIBED],
    closed: true,
  },
  {
    title: 'an observer that leaves while it receives the first value',
    handler: counts,
    subscribe: ($) => {
      const all = new Subscription();
      const tellOnce = (value: unknown): void => {
        told.push(value);
        all.unsubscribe();
      };
      all.add($.subscribe({ ...tell, next: tellOnce }));
      return all;
    },
    told: [1],
    sent: [UNSUBSCRIBED],
    closed: true,
  },
  {
    title: 'a teardown added to a subscription',
    handler: counts,
    subscribe: ($) => {
      const subscription = $.subscribe(tell);
      subscription.add(() => void told.push('torn down'));
      return subscription;
    },
    told: [1, 2, 'complete', 'torn down'],
    closed: true,
  },
  {
    title: 'a teardown added to a subscription that throws',
    handler: stays,
    subscribe: ($) => {
      const subscription = $.subscribe(tell);
      subscription.add(no);
      return subscription;
    },
    later: (subscription) => {
      expect(() => {
        subscription.unsubscribe();
      }).toThrow(UnsubscriptionError);
    },
    told: [1],
    sent: [UNSUBSCRIBED],
    closed: true,
  },
];

/** An operator puts a subscriber of rxjs before the observer: its behaviour is the expected one. */
describe.each([
  ['to `open$` itself', ($: Observable<unknown>) => $],
  ['through an operator', ($: Observable<unknown>) => $.pipe(map((value) => value))],
])('Subscriptions %s', (_where, piped) => {
  it.each(ROWS)('`open$` serves $title', async ({ handler, payload = 'p', subscribe, later, told: expected, sent = [], closed }) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const frames = framesOf(dialer);
    const subscription = subscribe(piped(dialer.open$(payload)));
    await time.advance();
    later?.(subscription);
    await time.advance();
    expect(told).toEqual(expected);
    expect(frames.slice(1)).toEqual(sent);
    expect(subscription.closed).toBe(closed);
  });
});
