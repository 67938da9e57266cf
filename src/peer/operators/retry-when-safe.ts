import { NEVER } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkObject } from '../../wire/check.js';
import { retrySafely } from '../calls/safe-retry.js';
import type { Retry } from '../calls/safe-retry.js';

/**
 * Subscribes again where that is provably safe: only for an error that is `retriable`, which says that the remote has done
 * nothing. Any other error passes, and so does one of another call that came in by this call's `input` or `onOpen`. Put it
 * directly after a call: what is piped before it runs again too. An `input` is sent again; one that gives its values once, such as
 * a generator, has to be made by a function, or the second attempt fails with a TypeError.
 *
 * @throws TypeError for a `count` that is not a non-negative number, and for a `delay` that is neither one nor a function
 *
 * @example
 * ```ts
 * peer.request$({ op: 'book', seat: '12A' }).pipe(retryWhenSafe()).subscribe(console.log);
 * // booked once, also when the server was restarted meanwhile
 * ```
 */
export function retryWhenSafe<T>(options: Retry = {}): MonoTypeOperatorFunction<T> {
  checkObject('retryWhenSafe', options, '{ count, delay }');
  return retrySafely(options, NEVER, NEVER, () => true);
}
