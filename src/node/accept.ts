import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { BehaviorSubject, Subscription, timer } from 'rxjs';
import { CLOSING_MS } from '../connection/watchdog.js';
import { log } from '../logger.js';
import type { PeerCore } from '../peer/core.js';
import { connectError } from '../peer/dial/failure.js';
import { GivenSocket } from '../peer/dial/given-socket.js';
import { DEFAULT_HELLO_LIMITS, HELLO_TIMEOUT_MS, acceptorCore, resolveHelloLimits } from '../peer/hello.js';
import type { AcceptorOptions, HelloLimits } from '../peer/hello.js';
import type { StreamHandler } from '../peer/hooks.js';
import type { RefusalLines } from '../peer/log.js';
import { PEER_OPTIONS, resolveOptions } from '../peer/options.js';
import type { PeerOptions } from '../peer/options.js';
import { Peer } from '../peer/peer.js';
import { guard } from '../rx/subscribers.js';
import { abnormalClose } from '../transport/transport.js';
import type { SocketLike, Transport } from '../transport/transport.js';
import { readDeflate } from '../transport/ws/deflate.js';
import type { Deflate, DeflateOptions } from '../transport/ws/deflate.js';
import { WsUpgrader, isOversize, transportOf } from '../transport/ws/ws.js';
import { checkFunction, checkNumber, checkOptions, optionError, readOptions } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { LazyMap } from '../util/collections.js';
import { subprotocol } from '../wire/codec.js';
import { CloseCode, ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/errors.js';
import { soon } from '../rx/soon.js';
import { SparseLog, boundNodeLogs } from './log.js';
import { checkOrigins, clientAddress, readTrustProxy, trustsNone } from './origin.js';
import type { Origins, TrustProxy, TrustsHop } from './origin.js';
import { ignoreErrors } from './refusal.js';
import { Totals, checkTotals } from './totals.js';
import type { Ledger, Seat } from './totals.js';
import { upgrade } from './upgrade.js';
import type { UpgradePolicy, Verdict } from './upgrade.js';

/** Options of an accepted peer. */
export interface AcceptOptions extends PeerOptions {
  /** Answers the streams that the dialer opens; replaces `onStream`. Default `onStream`. */
  readonly handler?: StreamHandler | undefined;
  /**
   * Answers the dialer's first stream. Until it has replied, other streams are REFUSED and `helloLimits` hold. If it rejects, the peer
   * closes (C12). Default none: no hello is expected.
   */
  readonly onHello?: StreamHandler | undefined;
  /** How long the hello may take to arrive and to be answered, in ms; 0 is no limit. Default 10 000. */
  readonly helloTimeoutMs?: number | undefined;
  /**
   * Bounds what a connection may send until `onHello` has replied; from then on `limits` hold. A hello over `maxPayloadBytes` is reset
   * with PAYLOAD_TOO_LARGE. Default `{ maxPayloadBytes: 65_536, maxPayloadItems: 10_000, maxHeldBytes: 1_048_576 }`.
   */
  readonly helloLimits?: Given<HelloLimits> | undefined;
  /**
   * Receives each peer a turn before the peer begins to read. It decides nothing: an error that it throws is logged, and the peer is
   * served anyway. To refuse a peer, answer an HTTP status from `verify`, or reject in `onHello`. Default none.
   */
  readonly onPeer?: ((peer: Peer, request: IncomingMessage | null) => void) | undefined;
  /**
   * Counts the peer together with others. An upgrade over a limit answers 503 with `Retry-After: 1`. `accept` refuses no peer, because its
   * socket is open already. Default none.
   */
  readonly totalLimits?: Totals | undefined;
}

/** Options of an upgrade. */
export interface UpgradeOptions extends AcceptOptions {
  /**
   * Decides before the upgrade whether a dialer may connect, and may return its `peer.context`. `false` answers 403, 401 answers 401, and
   * `refuse` any other status. A `verify` that throws or rejects answers 500. Default none: every dialer may.
   */
  readonly verify?: ((request: IncomingMessage) => Verdict | Promise<Verdict>) | undefined;
  /**
   * How long `verify` may take before the answer is 503 with `Retry-After: 1`, in ms; 0 is no limit. A late verdict is dropped.
   * Default 10 000.
   */
  readonly verifyTimeoutMs?: number | undefined;
  /**
   * Chooses the web pages that may connect. Any other page gets 403. A list or a function replaces the default, so name your own pages
   * too. A string must equal the whole origin (`https://app.example.org`, without a slash at the end). A RegExp may match any part of the
   * origin, so anchor it: `/^https:\/\/\w+\.example\.org$/`. A function that throws, or returns no boolean (such as a promise), answers
   * 500; slow decisions belong in `verify`.
   *
   * The default admits a page whose own name was pointed at this server (DNS rebinding). A server on loopback or an intranet needs
   * `origins` or `verify`. Default pages of the `Host` that they ask for, and pages on loopback for a server on loopback.
   */
  readonly origins?: Origins | undefined;
  /**
   * Names the proxies whose `X-Forwarded-For` has the client's address: a count, a list, or a function.
   * It matters for `maxConnectionsPerAddress`. `1` trusts one proxy before this server, and `['10.0.0.0/8', '::1']` trusts proxies at these
   * addresses. A client writes the header itself where it can bypass the proxy. A function that throws, or returns no boolean (such as a promise),
   * answers 500. Default no proxy.
   */
  readonly trustProxy?: TrustProxy | undefined;
  /**
   * Accepts permessage-deflate (RFC 7692) of dialers that offer it, and compresses what this side sends to them. `true` takes the defaults
   * of {@link DeflateOptions}. Limits hold for inflated bytes. It costs CPU and memory for each such connection. Do not use it where a
   * secret and text of an attacker share a connection. Default `false`: nothing is compressed.
   */
  readonly perMessageDeflate?: boolean | Given<DeflateOptions> | undefined;
}

/** {@link UpgradeOptions} beyond {@link PeerOptions}, checked and with defaults. */
interface UsedUpgradeOptions extends Required<
  Pick<UpgradeOptions, 'handler' | 'onHello' | 'onPeer' | 'verify' | 'origins' | 'totalLimits'>
> {
  readonly helloTimeoutMs: number;
  readonly helloLimits: HelloLimits;
  readonly verifyTimeoutMs: number;
  readonly trustProxy: TrustsHop;
  readonly perMessageDeflate: Deflate | null;
}

/** {@link UpgradeOptions}, checked and with defaults. */
export interface ResolvedUpgrade extends Omit<UsedUpgradeOptions, 'handler' | 'onHello' | 'helloTimeoutMs' | 'helloLimits'> {
  readonly acceptor: AcceptorOptions;
}

/** Declares {@link UpgradeOptions} beyond {@link PeerOptions}. */
export const UPGRADE_OPTIONS: Options<Omit<UpgradeOptions, keyof PeerOptions>, UsedUpgradeOptions> = {
  handler: [checkFunction, undefined],
  onHello: [checkFunction, undefined],
  helloTimeoutMs: [checkNumber, HELLO_TIMEOUT_MS],
  helloLimits: [(_name, given) => resolveHelloLimits(given), DEFAULT_HELLO_LIMITS],
  onPeer: [checkFunction, undefined],
  verify: [checkFunction, undefined],
  verifyTimeoutMs: [checkNumber, 10_000],
  origins: [checkOrigins, undefined],
  totalLimits: [checkTotals, undefined],
  trustProxy: [readTrustProxy, trustsNone],
  perMessageDeflate: [readDeflate, null],
};

/**
 * Checks the options of one accepted peer, and of its upgrade if there is one, and fills in defaults.
 *
 * @param others declare options that the caller has read
 * @throws CodecNotRegistered; TypeError naming the option
 */
export function resolveAccept(options: UpgradeOptions, ...others: readonly object[]): ResolvedUpgrade {
  checkOptions(options, ...others, UPGRADE_OPTIONS, PEER_OPTIONS);
  const peer = resolveOptions(options, false);
  const { handler = peer.onStream, onHello, helloTimeoutMs, helloLimits, ...ofUpgrades } = readOptions(UPGRADE_OPTIONS, options);
  const hello = onHello === undefined ? null : { handler: onHello, timeoutMs: helloTimeoutMs, limits: helloLimits };
  return { ...ofUpgrades, acceptor: { ...peer, onStream: handler, hello } };
}

/** {@link resolveAccept} for a peer that no `serve` makes. */
function resolveAlone(options: UpgradeOptions): ResolvedUpgrade {
  const resolved = resolveAccept(options);
  Object.assign(resolved.acceptor, { refusals: REFUSALS });
  return resolved;
}

boundNodeLogs();

/** Counts the refusals of all upgrades that no `serve` answers. */
const LOG = new SparseLog();
/** Counts the refused streams of all peers that no `serve` has made, because each of them may be a stranger's. */
const REFUSALS: RefusalLines = new LazyMap();
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
  const resolved = resolveAlone(options);
  const transport = transportOf(socket);
  const made = makePeer(resolved, transport);
  take(ledgerOf(resolved).seat(null), made, transport);
  announce(made, transport, resolved, null);
  return made.peer;
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
  const resolved = resolveAlone(options);
  const made = makePeer(resolved);
  const { core, source, peer } = made;
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
  ignoreErrors(socket);
  upgrade(request, socket, head, policy, {
    accepted: (transport, context, seat) => {
      if (context !== undefined) core.context = context;
      take(seat, made, transport);
      noteOversize(made, transport, resolved, LOG);
      source.give(transport);
      announce(made, transport, resolved, request);
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
export function policyOf(resolved: ResolvedUpgrade, log: SparseLog): UpgradePolicy {
  const { acceptor, verify, verifyTimeoutMs, origins, trustProxy, perMessageDeflate } = resolved;
  const ledger = ledgerOf(resolved);
  const upgrader = new WsUpgrader(subprotocol(acceptor.codec), acceptor.limits.maxMessageBytes, perMessageDeflate);
  const seat = (request: IncomingMessage) => {
    // A `trustProxy` of the user's runs in any case: if it throws, the answer is 500.
    const address = ledger.isLimited || trustProxy !== trustsNone ? clientAddress(request, trustProxy) : null;
    return ledger.refusal(address) ?? ledger.seat(address);
  };
  return { upgrader, verify, verifyTimeoutMs, origins, draining$: new BehaviorSubject(false), log, seat };
}

function ledgerOf({ totalLimits }: ResolvedUpgrade): Ledger {
  return totalLimits === undefined ? UNLIMITED : Totals.ledger(totalLimits);
}

/** An accepted peer, and what it is made of. */
interface Accepted {
  readonly core: PeerCore;
  readonly source: GivenSocket;
  readonly peer: Peer;
}

/** Makes a peer of an open socket, or of one that is to come. */
export function makePeer({ acceptor }: ResolvedUpgrade, transport: Transport | null = null): Accepted {
  const core = acceptorCore(acceptor);
  const source = new GivenSocket(core, transport);
  return { core, source, peer: new Peer(core, source, acceptor.onStream) };
}

/** A peer has a seat until it has closed and its TCP connection has ended. Calls `closed` once the peer has closed. */
export function take(seat: Seat, { core }: Accepted, transport: Transport, closed?: () => void): void {
  let ending = Subscription.EMPTY;
  core.share = seat.join(core, (reason) => {
    if (!core.isClosed) ending = endGreedy(core, reason);
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

/** The log has one line for such messages in this period, in ms. */
const OVERSIZE_PERIOD_MS = 60_000;

/** Logs a peer that ends for a message over `maxMessageBytes`, where a few bytes may inflate to such a message. */
export function noteOversize(
  { core }: Accepted,
  transport: Transport,
  { acceptor, perMessageDeflate }: ResolvedUpgrade,
  lines: SparseLog,
): void {
  if (perMessageDeflate === null) return;
  core.status.whenClosed(() => {
    if (!isOversize(transport.failure)) return;
    lines.note('oversize', OVERSIZE_PERIOD_MS, (more) => {
      const whose = more === 0 ? core.label : `${more} more, the last of ${core.label}`;
      log('warn', `closed ${whose} with 1009: a message, inflated, was over ${acceptor.limits.maxMessageBytes} bytes (maxMessageBytes)`);
    });
  });
}

/**
 * Calls `onPeer` with the peer. The peer begins to read in a later turn, when its handlers are in place.
 *
 * @param isKnown whether anything but the peer's own handler can reach the peer. A peer that only its handler knows reads at once
 */
export function announce(
  { core, source, peer }: Accepted,
  transport: Transport,
  { onPeer }: ResolvedUpgrade,
  request: IncomingMessage | null,
  isKnown = true,
): void {
  core.setRemote(remoteOf(request));
  if (onPeer !== undefined) guard('onPeer', () => onPeer(peer, request));
  if (isKnown || onPeer !== undefined)
    transport.turn(() => {
      source.start();
    });
  else source.start();
}

/** The address of the other side, for the log; empty if it is not known. */
function remoteOf(request: IncomingMessage | null): string {
  const { remoteAddress, remotePort } = request?.socket ?? {};
  if (remoteAddress === undefined || remotePort === undefined) return '';
  return `${remoteAddress.includes(':') ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
}
