import { checkPeer } from './options.js';
import { defer, from, merge, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { log } from '../logger.js';
import { QueueOverflowError, StreamIdsExhaustedError } from '../wire/errors.js';
import type { MetadataInput } from '../wire/frame.js';
import { Peer } from './peer.js';
import { notify } from './short-way.js';

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

/** Whether a peer opens streams, and its remote has been admitted. */
export function takesCalls(peer: Peer): boolean {
  const { state } = peer.status;
  return (state === 'open' || state === 'connecting') && Peer.core(peer)?.incoming.gate?.isOpen !== false;
}

/**
 * Notifies one of many peers. A peer without room or ids must not keep the payload from the others, so the log warns.
 *
 * @returns whether the peer has accepted the payload
 */
export function notifyOrWarn(peer: Peer, payload: unknown, headers?: MetadataInput): boolean {
  try {
    notify(peer, payload, headers);
    return true;
  } catch (error) {
    if (!(error instanceof QueueOverflowError || error instanceof StreamIdsExhaustedError)) throw error;
    log('warn', `${peer.toString()} was not notified`, error);
    return false;
  }
}
