import type { Observable } from 'rxjs';
import { GuardedObservable } from '../../rx/guarded-observable.js';
import { mapPresent } from '../../rx/map-present.js';
import { eventsOf } from '../../transport/events.js';
import { checkObject } from '../../wire/check.js';
import { isOver } from '../status.js';
import type { PeerCore } from '../core.js';
import { checkSignal } from './call-options.js';
import type { OpenOptions } from './call-options.js';
import { retrySafely } from '../safe-retry.js';
import type { Retry } from '../safe-retry.js';

/**
 * Makes a call again as its option `retry` says.
 *
 * @throws TypeError for an invalid `retry`
 */
export function retriedCall(core: PeerCore, call$: Observable<unknown>, retry: 'safe' | Retry, options: OpenOptions): Observable<unknown> {
  if (retry !== 'safe') checkObject('retry', retry, "false, 'safe' or { count, delay }");
  const { signal } = options;
  if (signal != null) checkSignal(signal);
  const retried$ = call$.pipe(
    retrySafely(retry === 'safe' ? {} : retry, {
      // An abort ends the delay; the next attempt fails with it.
      hurry$: signal == null ? undefined : eventsOf(signal, 'abort'),
      over$: core.status.status$.pipe(mapPresent((now) => (isOver(now) ? now : null))),
      mayRetry: () => core.openSession !== null || core.source.expectsSocket,
    }),
  );
  return new GuardedObservable((subscriber) => retried$.subscribe(subscriber));
}
