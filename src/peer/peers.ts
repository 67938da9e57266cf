import { defer, from, merge, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { checkPeer } from './check-peer.js';
import type { Peer } from './peer.js';

/** A server, with its peers of now and of later. */
export interface PeersSource {
  /** The peers of now. Default none. */
  readonly peers?: Iterable<Peer> | undefined;
  /** Emits later peers. */
  readonly peers$: Observable<Peer>;
}

/**
 * Emits the peers of a source, present and later ones.
 *
 * @param caller the function that the user calls
 * @throws TypeError unless `source` is a peer or a server
 */
export function peersOf(caller: string, source: Peer | PeersSource): Observable<Peer> {
  if (typeof source !== 'object' || source === null || !('peers$' in source)) {
    checkPeer(caller, source, 'frames$');
    return of(source);
  }
  return defer(() => merge(from([...(source.peers ?? [])]), source.peers$));
}
