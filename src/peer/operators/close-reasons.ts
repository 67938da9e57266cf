import { map, mergeMap } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { CloseReason } from '../../wire/close-reason.js';
import type { Peer } from '../peer.js';

/**
 * Emits why each socket of each peer has ended, for all peers of the source.
 *
 * @example
 * ```ts
 * server.peers$.pipe(closeReasons()).subscribe(({ reason }) => console.log(reason.code));
 * // 1000
 * ```
 */
export function closeReasons(): OperatorFunction<Peer, { readonly peer: Peer; readonly reason: CloseReason }> {
  return mergeMap((peer) => peer.closes$.pipe(map((reason) => ({ peer, reason }))));
}
