import { asyncScheduler, Observable } from 'rxjs';
import type { Subscriber, Subscription } from 'rxjs';
import { Relay } from '../../rx/relay.js';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import type { Attempt, DialContext } from './attempt.js';
import { isThenable } from '../base/guard.js';

/** Calls a function of the user's for a dial, and emits its result. Emits nothing if the function has closed the peer. */
export function callPerDial<T>(make: (context: DialContext) => T | Promise<T>, attempt: Attempt): Observable<T> {
  return new Observable((subscriber) => {
    const made = (value: T): void => {
      if (!attempt.givenUp) subscriber.next(value);
      subscriber.complete();
    };
    const result = make(attempt);
    // A plain value is emitted at once, so that virtual time stays virtual.
    if (isThenable(result))
      void result.then(made, (error: unknown) => {
        subscriber.error(error);
      });
    else made(result);
  });
}

/** A step of a dial has taken too long. */
export class NotInTime extends Error {
  override readonly name = 'TimeoutError';

  constructor() {
    super('Timeout has occurred');
  }
}

/**
 * Errors with {@link NotInTime} if `source` emits nothing within `ms`. 0, and times that no timer can count, set no limit.
 *
 * In place of `timeout`, which can also switch to any other input.
 */
export function withTimeout<T>(source: Observable<T>, ms: number): Observable<T> {
  if (ms <= 0 || ms > LONGEST_TIMER_MS) return source;
  return new Observable((subscriber) => {
    new TimedRelay<T>(subscriber).follow(source, ms);
  });
}

class TimedRelay<T> extends Relay<T> {
  #timer: Subscription | null = null;
  #inTime = false;

  constructor(to: Subscriber<T>) {
    super(to);
    this.add(() => this.#timer?.unsubscribe());
  }

  follow(source: Observable<T>, ms: number): void {
    source.subscribe(this);
    if (this.#inTime || this.closed) return;
    this.#timer = asyncScheduler.schedule(() => {
      this.unsubscribe();
      this.to.error(new NotInTime());
    }, ms);
  }

  protected take(value: T): void {
    this.#inTime = true;
    this.#timer?.unsubscribe();
    this.to.next(value);
  }
}
