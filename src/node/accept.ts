import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { BehaviorSubject } from 'rxjs';
import { announce, ledgerOf, makePeer, take } from '../acceptor/accepted.js';
import type { Accepted } from '../acceptor/accepted.js';
import { JUDGED_OPTIONS, refuseGiven, resolveJudged } from '../acceptor/options.js';
import type { AcceptedOptions, JudgedOptions, ResolvedJudged } from '../acceptor/options.js';
import { SparseLog } from '../acceptor/sparse-log.js';
import { log } from '../logger.js';
import { connectError } from '../peer/dial/failure.js';
import type { RefusalLines } from '../peer/log.js';
import type { Peer } from '../peer/peer.js';
import { abnormalClose } from '../transport/transport.js';
import type { SocketLike, Transport } from '../transport/transport.js';
import { readDeflate } from '../transport/ws/deflate.js';
import type { Deflate, DeflateOptions } from '../transport/ws/deflate.js';
import { WsUpgrader, isOversize, transportOf } from '../transport/ws/ws.js';
import { optionError, readOptions } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { LazyMap } from '../util/collections.js';
import { subprotocol } from '../wire/codec.js';
import { boundNodeLogs } from './log.js';
import { clientAddress, losesOrigin, readTrustProxy, trustsNone } from './origin.js';
import type { TrustProxy, TrustsHop } from './origin.js';
import { ignoreErrors } from './refusal.js';
import { upgrade } from './upgrade.js';
import type { UpgradePolicy } from './upgrade.js';

/** Options of an accepted peer. */
export type AcceptOptions = AcceptedOptions<IncomingMessage>;

/** Options of an upgrade. */
export interface UpgradeOptions extends JudgedOptions<IncomingMessage> {
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

/** {@link UpgradeOptions}, checked and with defaults. */
export interface ResolvedUpgrade extends ResolvedJudged<IncomingMessage> {
  readonly trustProxy: TrustsHop;
  readonly perMessageDeflate: Deflate | null;
}

type OfNode = 'trustProxy' | 'perMessageDeflate';

/** The options that an open socket comes too late for. */
const OF_UPGRADES: readonly Exclude<keyof UpgradeOptions, keyof AcceptOptions>[] = [
  'verify',
  'verifyTimeoutMs',
  'origins',
  'trustProxy',
  'perMessageDeflate',
];

const NODE_OPTIONS: Options<Pick<UpgradeOptions, OfNode>, Pick<ResolvedUpgrade, OfNode>> = {
  trustProxy: [readTrustProxy, trustsNone],
  perMessageDeflate: [readDeflate, null],
};

/** Declares {@link UpgradeOptions} beyond the options of every peer. */
export const UPGRADE_OPTIONS = { ...JUDGED_OPTIONS, ...NODE_OPTIONS };

/**
 * Checks the options of one accepted peer, and of its upgrade if there is one, and fills in defaults.
 *
 * @param others declare options that the caller has read
 * @throws CodecNotRegistered; TypeError naming the option
 */
export function resolveAccept(options: UpgradeOptions, ...others: readonly object[]): ResolvedUpgrade {
  const judged = resolveJudged(options, ...others, NODE_OPTIONS);
  return { ...judged, ...readOptions(NODE_OPTIONS, options) };
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
/**
 * Makes a peer of a socket that your program has accepted. Your program also checks the origin, and bounds the size of a message
 * (`maxPayload` of `ws`).
 *
 * The options of an upgrade, such as `verify`, come too late here, and throw.
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
  refuseGiven(options, OF_UPGRADES, ' for a socket that is open: pass it to handleUpgrade or serve');
  const transport = transportOf(socket);
  const made = makePeer(resolved, '', transport);
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
  const made = makePeer(resolved, remoteOf(request), null);
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
export function policyOf(resolved: ResolvedUpgrade, lines: SparseLog, draining$ = new BehaviorSubject(false)): UpgradePolicy {
  const { acceptor, verify, verifyTimeoutMs, origins, trustProxy, perMessageDeflate } = resolved;
  const ledger = ledgerOf(resolved);
  const upgrader = new WsUpgrader(subprotocol(acceptor.codec), acceptor.limits.maxMessageBytes, perMessageDeflate);
  const seat = (request: IncomingMessage) => {
    // A `trustProxy` of the user's runs in any case: if it throws, the answer is 500.
    const isProxied = trustProxy !== trustsNone;
    const address = ledger.isLimited || isProxied ? clientAddress(request, trustProxy) : null;
    if (losesOrigin(request, origins, trustProxy)) warnOfLostOrigin(lines, request);
    const refusal = ledger.refusal(address);
    if (refusal !== null) return refusal;
    const seat = ledger.seat(address);
    if (isProxied) seat.remote = address;
    return seat;
  };
  return { upgrader, protocol: upgrader.protocol, verify, verifyTimeoutMs, origins, draining$, log: lines, seat };
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

/** The logs that have the line of {@link warnOfLostOrigin}. */
const WARNED = new WeakSet<SparseLog>();

function warnOfLostOrigin(lines: SparseLog, { socket }: IncomingMessage): void {
  if (WARNED.has(lines)) return;
  WARNED.add(lines);
  log(
    'warn',
    `an upgrade with a Cookie but without an Origin came through the proxy at ${socket.remoteAddress ?? 'a Unix socket'}: browsers always send an Origin, so if this proxy drops it, any web page can use its visitor's cookie here; forward Origin at the proxy, or pass origins: { required: true }`,
  );
}

/** The address of the other side, for the log; empty if it is not known. */
export function remoteOf({ socket }: IncomingMessage): string {
  const { remoteAddress, remotePort } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return '';
  return `${remoteAddress.includes(':') ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
}
