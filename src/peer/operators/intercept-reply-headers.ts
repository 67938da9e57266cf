import type { MonoTypeOperatorFunction } from 'rxjs';
import { checkFunction } from '../../wire/check.js';
import type { ReplyHeadersInterceptor } from '../base/hooks.js';
import type { Peer } from '../peer.js';
import { hook } from './hook.js';

/**
 * Sees, and may change, the headers of the first frame that each peer that passes sends on a stream the remote opened.
 * Removed on unsubscribe only.
 *
 * @throws TypeError for what is no function
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
