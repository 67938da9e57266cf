import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkFunction } from '../../wire/check.js';
import type { ReplyHeadersInterceptor } from '../hooks.js';
import type { Peer } from '../peer.js';
import { hook } from './hooks.js';

/**
 * Calls `interceptor` with the headers of a peer's first frame on each stream of the remote, for each peer of the source. The
 * interceptor may change the headers. Only unsubscribing removes the interceptor.
 *
 * @throws TypeError unless `interceptor` is a function
 *
 * @example
 * ```ts
 * server.peers$.pipe(interceptReplyHeaders((headers, stream) => { headers['x-trace'] = stream.headers['x-trace']; })).subscribe();
 * ```
 */
export function interceptReplyHeaders(interceptor: ReplyHeadersInterceptor): MonoTypeOperatorFunction<Peer> {
  checkFunction('interceptReplyHeaders', interceptor);
  return hook((peer) => peer.interceptReplyHeaders(interceptor));
}
