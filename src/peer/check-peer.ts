import { optionError } from '../wire/check.js';
import type { Peer } from './peer.js';

/**
 * @param caller the function that the user calls
 * @param used a member that identifies a Peer; not `instanceof`, because a page may hold two copies of this package
 * @throws TypeError unless `peer` is a peer
 */
export function checkPeer(caller: string, peer: unknown, used: keyof Peer): void {
  if (typeof peer !== 'object' || peer === null || !(used in peer)) throw optionError(caller, 'a Peer', peer);
}
