import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkFunction } from '../../wire/check.js';
import type { OpenInterceptor } from '../base/hooks.js';
import type { Peer } from '../peer.js';
import { hook } from './hook.js';

/**
 * Sees, and may change, the headers of every call of each peer that passes, before an id is spent.
 * Removed on unsubscribe only.
 *
 * @throws TypeError for what is no function
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
