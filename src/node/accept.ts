import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { BehaviorSubject } from 'rxjs';
import { acceptorCore } from '../peer/acceptor.js';
import type { AcceptorOptions } from '../peer/acceptor.js';
import type { PeerCore } from '../peer/core.js';
import { connectError } from '../peer/dial/connect-error.js';
import { GivenSocket } from '../peer/dial/given-socket.js';
import type { PeerContext } from '../peer/options.js';
import { Peer } from '../peer/peer.js';
import { guard } from '../rx/guard.js';
import type { SocketLike } from '../transport/socket-like.js';
import { abnormalClose } from '../transport/transport.js';
import type { Transport } from '../transport/transport.js';
import { WsUpgrader, transportOf } from '../transport/ws/ws.js';
import { optionError } from '../wire/check.js';
import { subprotocol } from '../wire/subprotocol.js';
import { resolveAccept } from './accept-options.js';
import type { AcceptOptions, OfUpgrades, ResolvedUpgrade, UpgradeOptions } from './accept-options.js';
import { clientAddress } from './client-address.js';
import { RefusalLog } from './refusal.js';
import { Totals } from './total-limits.js';
import type { Ledger, Seat } from './totals.js';
import type { UpgradePolicy } from './upgrade-policy.js';
import { upgrade } from './upgrade.js';

/** The log of all upgrades that no `serve` answers. */
const LOG = new RefusalLog();
/** Counts for nothing: no limit was set. */
const UNLIMITED = Totals.ledger(new Totals());

/**
 * Makes a peer of a socket that your program has accepted. Your program also checks the origin, and bounds the size of a message
 * (`maxPayload` of `ws`).
 *
 * The peer begins to read in a later turn. A socket that has agreed on the subprotocol of another codec is closed with 1008, and the
 * peer fails with a CodecMismatch. A socket without any subprotocol is accepted.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option
 *
 * @example
 * ```ts
 * webSocketServer.on('connection', (socket) => accept(socket, { handler: (payload, stream) => stream.reply(payload) }));
 * // at the dialer: await peer.request('hi') returns 'hi'
 * ```
 */
export function accept(socket: SocketLike, options: AcceptOptions = {}): Peer {
  const resolved = resolveAccept(options);
  const transport = transportOf(socket);
  const peer = peerOver(transport, resolved.acceptor, ledgerOf(resolved).seat(null));
  announcePeer(peer, transport, resolved, null);
  return peer;
}

/**
 * Judges one upgrade request of an HTTP server of your own and answers it, as `serve` does (V2, V6). Returns the peer at once.
 *
 * It refuses a request with:
 *
 * | HTTP status | the request |
 * | --- | --- |
 * | 400 | does not offer the subprotocol of the codec first |
 * | 403 | comes from a page that `origins` does not admit |
 * | 503 with `Retry-After: 1` | is one too many for `totalLimits` |
 * | 401, 403, or the status of `refuse` | was refused by `verify` |
 * | 503 with `Retry-After: 1` | waited for `verify` longer than `verifyTimeoutMs`, or until the peer was closed |
 * | 500 | was not judged, because `origins`, `trustProxy` or `verify` threw |
 * | 400 | is no valid WebSocket handshake |
 *
 * The peer of a refused request closes, and its status holds a ConnectError with the HTTP status. The status of the error is `null` if the
 * dialer left before the answer, and if the socket was upgraded before.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option; the request is not answered then
 *
 * @example
 * ```ts
 * httpServer.on('upgrade', (request, socket, head) => {
 *   if (request.url === '/mux') handleUpgrade(request, socket, head, { handler: (payload, stream) => stream.reply(payload) });
 * });
 * // at a dialer of '/mux': await peer.request('hi') returns 'hi'
 * ```
 */
export function handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, options: UpgradeOptions = {}): Peer {
  checkUpgrade(request, socket, head);
  const resolved = resolveAccept(options);
  const core = acceptorCore(resolved.acceptor);
  const source = new GivenSocket(core);
  const peer = new Peer(core, source, core.options.onStream);
  const policy = policyOf(resolved, LOG);
  // Not `peer.closed`: a promise reports one microtask later, and `verify` may decide in that microtask.
  peer.status$.subscribe({
    complete: () => {
      policy.draining$.next(true);
    },
  });
  const fail = (status: number | null, reason: string): void => {
    source.fail(connectError(abnormalClose(reason), { status }));
  };
  upgrade(request, socket, head, policy, {
    accepted: (transport, context, seat) => {
      if (context !== undefined) core.context = context;
      take(seat, core, peer);
      source.give(transport);
      announcePeer(peer, transport, resolved, request);
    },
    refused: ({ status, reason }) => {
      fail(status, reason);
    },
    unanswered: (reason) => {
      fail(null, reason);
    },
  });
  return peer;
}

/** @throws TypeError unless the arguments are the three of a server's `upgrade` event */
function checkUpgrade(request: unknown, socket: unknown, head: unknown): void {
  if (typeof (request as Partial<IncomingMessage> | null | undefined)?.headers !== 'object')
    throw optionError('request', 'an IncomingMessage of node:http', request);
  if (typeof (socket as Partial<Duplex> | null | undefined)?.destroy !== 'function')
    throw optionError('socket', 'the stream below the request', socket);
  if (!(head instanceof Uint8Array)) throw optionError('head', 'a Buffer', head);
}

/** Makes the policy that judges upgrades with these options. It starts as not draining. */
export function policyOf(resolved: ResolvedUpgrade, log: RefusalLog): UpgradePolicy {
  const { acceptor, verify, verifyTimeoutMs, origins, trustProxy } = resolved;
  const ledger = ledgerOf(resolved);
  const upgrader = new WsUpgrader(subprotocol(acceptor.codec), acceptor.limits.maxMessageBytes);
  const seat = (request: IncomingMessage) => {
    const address = clientAddress(request, trustProxy);
    return ledger.refusal(address) ?? ledger.seat(address);
  };
  return { upgrader, verify, verifyTimeoutMs, origins, draining$: new BehaviorSubject(false), log, seat };
}

function ledgerOf({ totalLimits }: OfUpgrades): Ledger {
  return totalLimits === undefined ? UNLIMITED : Totals.ledger(totalLimits);
}

/** Makes a peer of an open socket. */
export function peerOver(transport: Transport, options: AcceptorOptions, seat: Seat, context?: PeerContext): Peer {
  const core = acceptorCore(options);
  if (context !== undefined) core.context = context;
  const peer = new Peer(core, new GivenSocket(core, transport), core.options.onStream);
  take(seat, core, peer);
  return peer;
}

/** A peer has a seat until it has closed. */
function take(seat: Seat, core: PeerCore, peer: Peer): void {
  core.share = seat.join(() => core.bufferedAmount);
  void peer.closed.then(() => {
    seat.leave();
  });
}

/** Calls `onPeer` with the peer. The peer begins to read in a later turn, when its handlers are in place. */
export function announcePeer(peer: Peer, transport: Transport, { onPeer }: OfUpgrades, request: IncomingMessage | null): void {
  Peer.core(peer)?.setRemote(remoteOf(request));
  guard('onPeer', () => onPeer?.(peer, request));
  transport.turn(() => void peer.serve());
}

/** The address of the other side, for the log; empty if it is not known. */
function remoteOf(request: IncomingMessage | null): string {
  const { remoteAddress, remotePort } = request?.socket ?? {};
  if (remoteAddress === undefined || remotePort === undefined) return '';
  return `${remoteAddress.includes(':') ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
}
