import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkFunction } from '../../wire/check.js';
import type { OpenInterceptor } from '../hooks.js';
import type { Peer } from '../peer.js';
import { hook } from './hooks.js';

/**
 * Calls `interceptor` with the headers of every call before an id is spent, for each peer of the source. The interceptor may change the
 * headers. Only unsubscribing removes the interceptor.
 *
 * @throws TypeError unless `interceptor` is a function
 *
 * @example
 * ```ts
 * serve(options).peers$.pipe(interceptOpen((headers) => { headers['x-node'] = 'a1'; })).subscribe();
 * ```
 */
export function interceptOpen(interceptor: OpenInterceptor): MonoTypeOperatorFunction<Peer> {
  checkFunction('interceptOpen', interceptor);
  return hook((peer) => peer.interceptOpen(interceptor));
}
