import { Observable, Subscription, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, ObservableInput, Subscriber } from 'rxjs';
import { HandledRelay } from '../rx/pipeline.js';
import type { RelayOwner } from '../rx/pipeline.js';
import { isDisclaimed } from '../stream/end.js';
import { observableFrom } from '../stream/input.js';
import { LateContext } from '../util/async-context.js';
import { checkNumber, optionError, readObject } from '../util/check.js';
import type { Options } from '../util/check.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { isMuxError } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';

/** The longest first delay, and the longest of all, in ms. */
export const JITTER = { minDelayMs: 500, maxDelayMs: 30_000 };

/**
 * The delay after the `nth` failure in a row, in ms. It is random, so that clients which failed together do not come back together. Its
 * upper bound doubles with each failure.
 */
export function fullJitter(nth: number, { minDelayMs, maxDelayMs } = JITTER): number {
  return Math.random() * Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(30, Math.max(0, nth - 1)), LONGEST_TIMER_MS);
}

/** How often a call is made again, and after which delay. */
export interface Retry {
  /** Attempts in a row after the first one; a value resets the count. Default 3. */
  readonly count?: number | undefined;
  /**
   * A delay in ms, or a function; then the next attempt begins at the function's first value or completion. A call that is made without
   * a connection waits for one by itself. Default full jitter, up to 500 ms doubled with each attempt, 30 s at most.
   */
  readonly delay?: number | ((error: AnyMuxError, attempt: number) => ObservableInput<unknown>) | undefined;
}

/** {@link Retry}, checked and with defaults. */
export interface ResolvedRetry {
  readonly count: number;
  readonly delay: NonNullable<Retry['delay']>;
}

/** Declares {@link Retry}. */
export const RETRY: Options<Retry, ResolvedRetry> = {
  count: [checkNumber, 3],
  delay: [checkDelay, (_error, attempt) => timer(fullJitter(attempt))],
};

/** The defaults, which all calls with `'safe'` share. */
let safe: ResolvedRetry | undefined;

/** @throws TypeError for an option that does not fit */
export function checkRetry(retry: 'safe' | Retry): ResolvedRetry {
  return retry === 'safe' ? (safe ??= checkRetry({})) : readObject('retry', retry, RETRY);
}

/** Conditions of another attempt, besides its error. Made when an attempt has failed. */
export interface RetryConditions {
  /** Ends the delay. */
  readonly hurry$?: Observable<unknown> | undefined;
  /** Ends the delay, and the error of the last attempt passes. */
  readonly over$?: Observable<unknown> | undefined;
  /** Whether another attempt makes sense now. If not, the error passes. */
  readonly mayRetry?: boolean;
}

/** Subscribes again after an error that is provably safe to retry. */
export function retrySafely<T>(retry: 'safe' | Retry, conditions: () => RetryConditions = () => ({})): MonoTypeOperatorFunction<T> {
  const resolved = checkRetry(retry);
  return (source) =>
    new Observable((subscriber) => {
      new Attempts(source, subscriber, resolved, conditions).begin();
    });
}

/**
 * The attempts of one call.
 *
 * In place of `retry`, with `merge` and `take` for its delay: 1 KB of a page, because they take any input.
 */
export class Attempts<T> implements RelayOwner<T> {
  // A failed attempt may end in any async context. Start the next attempt in the context of the first.
  readonly #context = new LateContext();
  #failures = 0;

  constructor(
    private readonly source: Observable<T>,
    private readonly to: Subscriber<T>,
    private readonly options: ResolvedRetry,
    private readonly conditions: () => RetryConditions,
  ) {
    this.#context.take();
  }

  begin(): void {
    this.#context.run(() => this.source.subscribe(new HandledRelay(this.to, this)));
  }

  received(value: T): void {
    this.#failures = 0;
    this.to.next(value);
  }

  failed(error: unknown, attempt: HandledRelay<T>): void {
    this.#failures++;
    const conditions = this.conditions();
    const isRetriable = isMuxError(error) && error.retriable && !isDisclaimed(error);
    if (!isRetriable || this.#failures > this.options.count || conditions.mayRetry === false) this.to.error(error);
    else this.#wait(error, attempt, conditions);
  }

  #wait(error: AnyMuxError, attempt: HandledRelay<T>, { hurry$, over$ }: RetryConditions): void {
    const waiting = new Subscription();
    const fail = (failure: unknown): void => {
      if (waiting.closed) return;
      waiting.unsubscribe();
      this.to.error(failure);
    };
    const again = (): void => {
      if (waiting.closed) return;
      waiting.unsubscribe();
      attempt.unsubscribe();
      this.begin();
    };
    const delay$ = this.#context.run(() => this.#delay(error));
    this.to.add(waiting);
    waiting.add(delay$.subscribe({ next: again, error: fail, complete: again }));
    if (!waiting.closed) waiting.add(hurry$?.subscribe({ next: again, error: fail }));
    if (!waiting.closed)
      waiting.add(
        over$?.subscribe({
          next: () => {
            fail(error);
          },
          error: fail,
        }),
      );
  }

  #delay(error: AnyMuxError): Observable<unknown> {
    const { delay } = this.options;
    return typeof delay === 'number' ? timer(Math.min(delay, LONGEST_TIMER_MS)) : observableFrom(delay(error, this.#failures));
  }
}

function checkDelay(name: string, delay: NonNullable<Retry['delay']>): NonNullable<Retry['delay']> {
  if (typeof delay === 'function' || (typeof delay === 'number' && delay >= 0)) return delay;
  throw optionError(name, 'a number of at least 0 or a function', delay);
}
