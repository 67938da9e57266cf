import { checkPeer } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import type { PeerStatus } from '../peer/status.js';

/** A state outside of a framework, which the framework's components show. */
export interface Store<State> {
  /** Calls back after each change. Returns a function that ends it. */
  readonly subscribe: (changed: () => void) => () => void;
  /** The current state: the same object until it changes. */
  readonly state: () => State;
  /** The state where a server renders. */
  readonly rendered: () => State;
}

/** The status where a server renders, because no peer dials there. */
const ON_SERVER: PeerStatus = Object.freeze({ state: 'connecting', attempt: 1, last: null });

/**
 * The status of a peer's connection. Reading it makes no lazy peer dial.
 *
 * @throws TypeError for an object that is no peer
 */
export function statusStore(peer: Peer): Store<PeerStatus> {
  checkPeer('useMuxStatus', peer, 'status$');
  return {
    subscribe: (changed) => {
      const watching = peer.status$.subscribe(changed);
      return () => {
        watching.unsubscribe();
      };
    },
    state: () => peer.status,
    rendered: () => ON_SERVER,
  };
}
