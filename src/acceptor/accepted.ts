import { Subscription, timer } from 'rxjs';
import { CLOSING_MS } from '../connection/watchdog.js';
import type { PeerCore } from '../peer/core.js';
import { GivenSocket } from '../peer/dial/given-socket.js';
import { acceptorCore } from '../peer/hello.js';
import { Peer } from '../peer/peer.js';
import { guard } from '../rx/subscribers.js';
import { soon } from '../rx/soon.js';
import { ALWAYS_ONLINE } from '../transport/connectivity.js';
import { sendShared } from '../peer/short-way.js';
import type { Transport } from '../transport/transport.js';
import { CloseCode, ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/errors.js';
import type { ResolvedJudged } from './options.js';
import { Totals } from './totals.js';
import type { Ledger, Seat } from './ledger.js';

/** Counts for nothing: no limit was set. */
const UNLIMITED = new Totals();

export function ledgerOf({ totalLimits = UNLIMITED }: Pick<ResolvedJudged<never>, 'totalLimits'>): Ledger {
  return Totals.ledger(totalLimits);
}

/** An accepted peer, and what it is made of. */
export interface Accepted {
  readonly core: PeerCore;
  readonly source: GivenSocket;
  readonly peer: Peer;
}

/**
 * Makes a peer of an open socket, or of one that is to come.
 *
 * @param remote the address of the other side, for the log; empty if it is not known
 */
export function makePeer({ acceptor }: Pick<ResolvedJudged<never>, 'acceptor'>, remote: string, transport: Transport | null): Accepted {
  const core = acceptorCore(acceptor);
  core.remote = remote;
  core.sendShared = sendShared;
  // Other runtimes than Node have the events of a page, though no server has a page: each peer would listen to all of them.
  const source = new GivenSocket(core, transport, ALWAYS_ONLINE);
  return { core, source, peer: new Peer(core, source, acceptor.onStream) };
}

/** A peer has a seat until it has closed and its TCP connection has ended. Calls `closed` once the peer has closed. */
export function take(seat: Seat, { core }: Accepted, transport: Transport, closed?: () => void): void {
  let ending = Subscription.EMPTY;
  core.remote = seat.remote ?? core.remote;
  core.share = seat.join(core, (reason) => {
    if (!core.hasClosed) ending = endGreedy(core, reason);
  });
  core.status.whenClosed(() => {
    soon(() => {
      ending.unsubscribe();
      const leave = (): void => {
        seat.leave();
      };
      if (transport.whenReleased === undefined) leave();
      else transport.whenReleased(leave);
      closed?.();
    });
  });
}

/**
 * Ends a peer for a total limit. The remote has 2 s to read why, whether it takes the rest or not. The end begins a microtask later,
 * because another connection asks for room amid its own work.
 */
function endGreedy(core: PeerCore, reason: string): Subscription {
  soon(() => {
    for (const connection of core.connections) connection.fail(new ConnectionFault(reason, ResetCode.ENHANCE_YOUR_CALM, CloseCode.POLICY));
  });
  return timer(CLOSING_MS).subscribe(() => {
    for (const { transport } of core.connections) transport.terminate(reason);
  });
}

/**
 * Calls `onPeer` with the peer. The peer begins to read in a later turn, when its handlers are in place.
 *
 * @param isKnown whether anything but the peer's own handler can reach the peer. A peer that only its handler knows reads at once
 */
export function announce<Q>(
  { source, peer }: Accepted,
  transport: Transport,
  { onPeer }: Pick<ResolvedJudged<Q>, 'onPeer'>,
  request: Q | null,
  isKnown = true,
): void {
  if (onPeer !== undefined) guard('onPeer', () => onPeer(peer, request));
  if (isKnown || onPeer !== undefined)
    transport.turn(() => {
      source.start();
    });
  else source.start();
}
