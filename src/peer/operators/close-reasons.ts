import { map, mergeMap } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { CloseReason } from '../../wire/close-reason.js';
import type { Peer } from '../peer.js';

/** The end of a socket, and its peer. */
export interface PeerClose {
  /** The peer of the socket. */
  readonly peer: Peer;
  /** Why the socket ended. */
  readonly reason: CloseReason;
}

/**
 * Emits why each socket of each peer has ended, for all peers of the source.
 *
 * @example
 * ```ts
 * server.peers$.pipe(closeReasons()).subscribe(({ reason }) => console.log(reason.code));
 * // 1000
 * ```
 */
export function closeReasons(): OperatorFunction<Peer, PeerClose> {
  return mergeMap((peer) => peer.closes$.pipe(map((reason) => ({ peer, reason }))));
}
