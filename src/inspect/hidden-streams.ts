import type { Peer } from '../peer/peer.js';
import { getOrMake } from '../util/collections.js';

const hidden = new WeakMap<Peer, Set<number>>();

/** The ids of a peer's streams that carry an inspector: to show them would make more of them. */
export function hiddenStreamsOf(peer: Peer): Set<number> {
  return getOrMake(hidden, peer, () => new Set());
}
