import { optionError } from '../wire/check.js';
import type { Peer } from './peer.js';

/**
 * @param caller what the user calls
 * @param used what it uses of a Peer, which tells one from another object: a page may hold two copies of this package
 * @throws TypeError for what is no peer
 */
export function checkPeer(caller: string, peer: unknown, used: keyof Peer): void {
  if (typeof peer !== 'object' || peer === null || !(used in peer)) throw optionError(caller, 'a Peer', peer);
}
