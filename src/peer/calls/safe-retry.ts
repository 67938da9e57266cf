import { defer, endWith, map, merge, Observable, retry, take, throwError, timer } from 'rxjs';
import type { MonoTypeOperatorFunction, ObservableInput } from 'rxjs';
import { currentContext } from '../../transport/async-context.js';
import { isMuxError } from '../../wire/any-error.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { checkNumber, optionError } from '../../wire/check.js';
import { readOptions } from '../../wire/options.js';
import type { Options } from '../../wire/options.js';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import { fullJitter } from '../base/full-jitter.js';
import { isDisclaimed } from '../stream/disclaimed.js';
import { observableFrom } from '../stream/input.js';

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
interface ResolvedRetry {
  readonly count: number;
  readonly delay: NonNullable<Retry['delay']>;
}

/** Declares {@link Retry}. */
export const RETRY: Options<Retry, ResolvedRetry> = {
  count: [checkNumber, 3],
  delay: [checkDelay, (_error, attempt) => timer(fullJitter(attempt))],
};

/**
 * Subscribes again after an error that is provably safe to retry. `hurry$` ends the delay. The error passes at once when `over$` emits,
 * and when `mayRetry` returns `false`.
 */
export function retrySafely<T>(
  options: Retry,
  hurry$: Observable<unknown>,
  over$: Observable<unknown>,
  mayRetry: () => boolean,
): MonoTypeOperatorFunction<T> {
  const { count, delay } = readOptions(RETRY, options, 'retry.');
  const delayed = (error: AnyMuxError, attempt: number): Observable<unknown> =>
    typeof delay === 'number' ? timer(Math.min(delay, LONGEST_TIMER_MS)) : observableFrom(delay(error, attempt));
  return (source) =>
    defer(() => {
      // A failed attempt may end in any async context. Start the next attempt in the context of the first.
      const inContext = currentContext();
      const attempt$ = new Observable<T>((subscriber) => inContext(() => source.subscribe(subscriber)));
      return attempt$.pipe(
        retry({
          resetOnSuccess: true,
          delay: (error: unknown, attempt) => {
            if (!isMuxError(error) || !error.retriable || isDisclaimed(error) || attempt > count || !mayRetry())
              return throwError(() => error);
            const givenUp$ = over$.pipe(
              map(() => {
                throw error;
              }),
            );
            // Without this, rxjs would complete the whole call when the delay completes.
            return merge(inContext(() => delayed(error, attempt)).pipe(endWith(null)), hurry$, givenUp$).pipe(take(1));
          },
        }),
      );
    });
}

function checkDelay(name: string, delay: NonNullable<Retry['delay']>): NonNullable<Retry['delay']> {
  if (typeof delay === 'function' || (typeof delay === 'number' && delay >= 0)) return delay;
  throw optionError(name, 'a number of at least 0 or a function', delay);
}
