import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkObject } from '../../wire/check.js';
import { retrySafely } from '../safe-retry.js';
import type { Retry } from '../safe-retry.js';

/**
 * Subscribes again after a `retriable` error, which says that the remote has done nothing. Any other error passes. So does an error of
 * another call that came in by this call's `input` or `onOpen`.
 *
 * Put this operator directly after a call, because it also repeats the operators between the call and itself. Each attempt sends
 * `input` again. An `input` that emits its values only once, such as a generator, must be made by a function. Otherwise the second
 * attempt fails with a TypeError.
 *
 * @throws TypeError unless `count` is a non-negative number, and `delay` such a number or a function
 *
 * @example
 * ```ts
 * peer.request$({ op: 'book', seat: '12A' }).pipe(retryWhenSafe()).subscribe(console.log);
 * // booked once, even if the server restarted meanwhile
 * ```
 */
export function retryWhenSafe<T>(options: Retry = {}): MonoTypeOperatorFunction<T> {
  checkObject('retryWhenSafe', options, '{ count, delay }');
  return retrySafely(options);
}
