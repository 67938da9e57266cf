import { checkPeer } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import type { PeerStatus } from '../peer/status.js';
import { refuseUnknown } from '../util/check.js';

/** A state outside of a framework, which the framework's components show. */
export interface Store<State> {
  /** Calls back after each change. Returns a function that ends it. */
  readonly subscribe: (changed: () => void) => () => void;
  /** The current state: the same object until it changes. */
  readonly state: () => State;
  /** The state where a server renders. */
  readonly rendered: () => State;
}

/** Names the properties of a provider. */
const PROPS = { peer: true, children: true };

/**
 * Checks the properties of a `MuxProvider`. `data-…` properties pass, which tools add to every element: TypeScript accepts them on every
 * component, too.
 *
 * @throws TypeError for an object that is no peer, and for an unknown property
 */
export function checkProvider(props: { readonly peer: Peer }): void {
  // By name: to read `children` of Solid would make them.
  const names = Object.keys(props).filter((name) => !name.includes('-'));
  refuseUnknown('MuxProvider', Object.fromEntries(names.map((name) => [name, true])), PROPS);
  checkPeer('MuxProvider', props.peer, 'status$');
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
