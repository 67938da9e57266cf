import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkFunction } from '../../wire/check.js';
import type { IncomingHeadersInterceptor } from '../hooks.js';
import type { Peer } from '../peer.js';
import { hook } from './hooks.js';

/**
 * Calls `interceptor` with the headers of the remote's first frame on every stream, for each peer of the source. Only unsubscribing
 * removes the interceptor.
 *
 * @throws TypeError unless `interceptor` is a function
 *
 * @example
 * ```ts
 * server.peers$.pipe(interceptIncomingHeaders((headers, stream) => { console.log(stream.id, headers); })).subscribe();
 * ```
 */
export function interceptIncomingHeaders(interceptor: IncomingHeadersInterceptor): MonoTypeOperatorFunction<Peer> {
  checkFunction('interceptIncomingHeaders', interceptor);
  return hook((peer) => peer.interceptIncomingHeaders(interceptor));
}
