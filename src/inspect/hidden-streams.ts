import type { Peer } from '../peer/peer.js';

const hidden = new WeakMap<Peer, Set<number>>();

/** The ids of a peer's streams that carry an inspector: to show them would make more of them. */
export function hiddenStreamsOf(peer: Peer): Set<number> {
  let ids = hidden.get(peer);
  if (ids === undefined) hidden.set(peer, (ids = new Set()));
  return ids;
}
