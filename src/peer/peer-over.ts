import type { Observable } from 'rxjs';
import type { Transport } from '../transport/transport.js';
import { GivenSocket } from './given-socket.js';
import type { StreamHandler } from './hooks.js';
import type { PeerCore } from './peer-core.js';
import { Peer } from './peer.js';

/** A peer over the one socket that comes, or the error of one that never will. It reads nothing before `serve`. */
export function peerOver(core: PeerCore, transport$: Observable<Transport>, onStream?: StreamHandler): Peer {
  const peer = new Peer(core, new GivenSocket(core, transport$));
  if (onStream !== undefined) peer.onStream(onStream);
  return peer;
}
