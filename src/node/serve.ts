import { errorMonitor } from 'node:events';
import type { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { Subject, Subscription, defer, from, merge, mergeMap, timer } from 'rxjs';
import { log } from '../logger.js';
import { resolveClose } from '../peer/options.js';
import type { CloseOptions, PeerContext, ResolvedClose } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { notifyOrWarn } from '../peer/peers.js';
import { completeGuarded } from '../rx/subscribers.js';
import { asyncDispose, markHandled, refuseThenable } from '../stream/promises.js';
import { SharedPayload } from '../stream/payload.js';
import type { Transport } from '../transport/transport.js';
import { asGiven, checkBoolean, checkFunction, checkObject, checkOptions, oneLine, optionError, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { steadyNow } from '../util/time.js';
import { announce, makePeer, policyOf, resolveAccept, take } from './accept.js';
import type { ResolvedUpgrade } from './accept.js';
import { SparseLog } from './log.js';
import { NO_LOAD, nearLimits, sumOf } from './mux-server.js';
import type { MuxServer, Refusal, ServeOptions, ServerNotifyOptions, ServerStats } from './mux-server.js';
import { PLAIN_TEXT, RETRY_AFTER, pathOf, refuseUpgrade } from './refusal.js';
import { Totals, totalsOf } from './totals.js';
import type { Seat } from './totals.js';
import { takeUpgrades } from './upgrade-hub.js';
import { upgrade } from './upgrade.js';
import type { UpgradePolicy } from './upgrade.js';

/** {@link ServeOptions} beyond the options of every upgrade, checked and with defaults. */
export interface ListenOptions {
  readonly path: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly tls: TlsOptions | undefined;
  readonly listenWhileDraining: boolean;
  readonly server: HttpServer | HttpsServer | undefined;
  readonly totalLimits: Totals | undefined;
}

/** Declares {@link ServeOptions} beyond the options of every upgrade. */
export const LISTEN_OPTIONS: Options<Omit<Partial<ListenOptions>, 'totalLimits'> & Pick<ServeOptions, 'totalLimits'>, ListenOptions> = {
  path: [checkPath, undefined],
  port: [asGiven, undefined],
  host: [checkHost, undefined],
  tls: [asGiven, undefined],
  listenWhileDraining: [checkBoolean, false],
  server: [checkServer, undefined],
  totalLimits: [totalsOf, undefined],
};

/**
 * Checks where a server listens, and fills in defaults.
 *
 * @throws TypeError naming the option
 */
export function readListenOptions(options: ServeOptions): ListenOptions {
  const resolved = readOptions(LISTEN_OPTIONS, options);
  const { port, server } = resolved;
  if (server !== undefined) refuseBeside(options);
  else if (!(Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535))
    throw optionError('port', 'an integer from 0 to 65535, or a server', port);
  return resolved;
}

/** @throws TypeError for an option that a given server decides, which would have no effect */
function refuseBeside(options: object): void {
  for (const name of ['port', 'host', 'tls', 'listenWhileDraining']) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) throw optionError(name, 'none beside server', value);
  }
}

function checkServer<T extends Partial<HttpServer> | null>(name: string, server: T): T {
  if (typeof server?.on === 'function' && typeof server.address === 'function') {
    // The servers of node:http2. Only one that allows HTTP/1.1 has the time-outs of HTTP/1.1.
    if (!('updateSettings' in server) || 'headersTimeout' in server) return server;
    throw new TypeError(`${name}: expected a server of HTTP/1.1, which WebSockets upgrade: pass allowHTTP1 to createSecureServer`);
  }
  throw optionError(name, 'one of node:http or node:https', server);
}

/** Node would listen on all addresses for a number. */
function checkHost(name: string, host: unknown): string {
  if (typeof host === 'string') return host;
  throw optionError(name, 'a text', host);
}

function checkPath(name: string, path: unknown): string {
  if (typeof path !== 'string' || !path.startsWith('/')) throw optionError(name, "one that begins with '/'", path);
  // No path of a request has one of these, so the server would answer nothing.
  if (/[?#]/.test(path)) throw optionError(name, 'one without a query', path);
  return path;
}

const DECISIVE = ['listening', 'close', errorMonitor] as const;

/** Promises that are still pending. All callers share one, so that each server has one set of listeners. */
const PENDING = new WeakMap<Server, Promise<AddressInfo | string>>();

/** Resolves with the server's address once it listens, and rejects when it cannot. Then it removes its listeners from the server. */
export function listening(server: Server): Promise<AddressInfo | string> {
  const pending = PENDING.get(server) ?? decided(server);
  // A server that listens already has decided, and may listen elsewhere later.
  if (!server.listening) PENDING.set(server, pending);
  return pending;
}

function decided(server: Server): Promise<AddressInfo | string> {
  const events: EventEmitter = server;
  return new Promise((resolve, reject) => {
    // Some platforms call `listening` with an argument.
    const decide = (error?: Error | null): void => {
      for (const event of DECISIVE) events.off(event, decide);
      PENDING.delete(server);
      const address = server.address();
      if (error != null) reject(error);
      else if (address === null) reject(new Error('expected the server to listen, but it was closed before'));
      else resolve(address);
    };
    if (server.listening) decide();
    // Only monitor the error: on a server of the user's it must not count as handled.
    else for (const event of DECISIVE) events.on(event, decide);
  });
}

/** Notifies every chosen peer of one payload. Returns how many. */
export function notifyAll(peers: Iterable<Peer>, payload: unknown, options: ServerNotifyOptions): number {
  checkOptions(options, { to: true, headers: true });
  const { to, headers } = options;
  if (to !== undefined) checkFunction('to', to);
  const shared = payload === undefined || payload instanceof SharedPayload ? payload : new SharedPayload(payload);
  let notified = 0;
  // A copy: an interceptor, or `to`, may close peers.
  for (const peer of [...peers]) {
    if (!takesCalls(peer) || (to !== undefined && !chosen(to(peer)))) continue;
    // `to` may have closed the peer by now, and an interceptor may do so in `notify`.
    if (takesCalls(peer) && notifyOrWarn(peer, shared, headers) && takesCalls(peer)) notified++;
  }
  return notified;
}

function takesCalls({ status }: Peer): boolean {
  return status.state === 'open' || status.state === 'connecting';
}

/** A promise of `false` would choose every peer. */
function chosen(verdict: boolean): boolean {
  refuseThenable("the option 'to'", verdict);
  return verdict;
}

/** The longest time over which goaways are spread, in ms. */
const LONGEST_SPREAD_MS = 5_000;

/**
 * Closes many peers one after the other, over the first half of their drain. So they do not all dial the next server at once. Returns the
 * goaways that are not sent yet.
 */
function spreadGoaways(peers: ReadonlySet<Peer>, options: ResolvedClose): Subscription {
  const pending = new Subscription();
  const { drainMs } = options;
  const spread = Math.min(drainMs / 2, LONGEST_SPREAD_MS);
  let nth = 0;
  for (const peer of peers) {
    const wait = (spread * nth++) / peers.size;
    if (wait === 0) void peer.close(options);
    else pending.add(timer(wait).subscribe(() => void peer.close({ ...options, drainMs: drainMs - wait })));
  }
  return pending;
}

/** Makes an HTTP server that only upgrades. It answers each ordinary request with 426, and with 503 while it drains. */
function ownServer(tls: TlsOptions | undefined, isDraining: () => boolean): HttpServer | HttpsServer {
  const server = tls === undefined ? createServer() : createTlsServer(checkObject('tls', tls));
  server.on('request', (_request, response) => {
    if (isDraining())
      response.writeHead(503, { ...PLAIN_TEXT, Connection: 'close', 'Retry-After': RETRY_AFTER }).end('this side is going away\n');
    else response.writeHead(426, { ...PLAIN_TEXT, Connection: 'close' }).end('expected a WebSocket upgrade\n');
  });
  return server;
}

/**
 * Accepts peers on a port, or on an HTTP server of yours, whose other routes keep working.
 *
 * The server judges an upgrade before it happens (V2, V6). It refuses with one of these statuses:
 *
 * - 400: the exact subprotocol is not in first place
 * - 401, 403, or a status of `refuse`: the verdict of `verify`
 * - 403: the page has another origin
 * - 404: the path is not `path`, and no other listener on the server can answer it
 * - 500: `verify` or `origins` throws
 * - 503: the server is draining
 *
 * A server of its own answers ordinary requests with 426, and with 503 while draining.
 *
 * If the server cannot get its port, `listening` rejects, the log reports the error, and `closed` resolves. A program that never reads
 * `listening` ends by that unhandled rejection.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option; any error that Node throws for `tls`
 *
 * @example
 * ```ts
 * const server = serve({ port: 0, handler: (payload, stream) => stream.reply(payload) });
 * await server.listening;   // { address: '::', family: 'IPv6', port: 41235 }
 * ```
 */
export function serve(options: ServeOptions): MuxServer {
  return new NodeMuxServer(options);
}

class NodeMuxServer implements MuxServer {
  readonly peers = new Set<Peer>();
  readonly listening: Promise<AddressInfo | string>;
  readonly closed: Promise<void>;
  readonly #peers$ = new Subject<Peer>();
  readonly peers$ = this.#peers$.asObservable();
  readonly #refusals$ = new Subject<Refusal>();
  readonly refusals$ = this.#refusals$.asObservable();
  readonly errors$ = defer(() => merge(from([...this.peers]), this.#peers$)).pipe(mergeMap(({ errors$ }) => errors$));
  readonly #server: HttpServer | HttpsServer;
  /** The TCP connections below the TLS of a server of its own. */
  readonly #sockets = new Set<Socket>();
  readonly #listenOptions: ListenOptions;
  readonly #resolved: ResolvedUpgrade;
  readonly #policy: UpgradePolicy;
  readonly #totals: Totals;
  /** How many peers have connected so far. */
  #opened = 0;
  /** The sums of the peers that have closed. */
  #past = NO_LOAD;
  /** How many upgrades were refused so far, by status. */
  readonly #refusals = new Map<number, number>();
  /** When the drain ends, on the clock of rxjs. */
  #deadline = Infinity;
  #goaways = Subscription.EMPTY;
  readonly #leaveServer: () => void;
  #end: () => void = () => undefined;

  constructor(options: ServeOptions) {
    this.#listenOptions = readListenOptions(checkObject('options', options));
    const { server, tls, path, port, host, totalLimits = new Totals() } = this.#listenOptions;
    this.#totals = totalLimits;
    this.#resolved = resolveAccept({ ...options, totalLimits }, LISTEN_OPTIONS);
    this.#policy = policyOf(this.#resolved, new SparseLog());
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    const isDraining = (): boolean => this.#policy.draining$.value;
    this.#server = server ?? ownServer(tls, isDraining);
    this.#leaveServer = takeUpgrades(this.#server, { path, isDraining, take: this.#take, refusePath: this.#refusePath });
    this.listening = listening(this.#server);
    if (server !== undefined) {
      // The server's own `error` event reports the same error.
      void markHandled(this.listening);
      return;
    }
    if (tls !== undefined)
      this.#server.on('connection', (socket: Socket) => {
        this.#sockets.add(socket);
        socket.once('close', () => this.#sockets.delete(socket));
      });
    this.#server.on('error', this.#onError);
    this.#server.listen(port, host);
  }

  toString(): string {
    const address = this.address();
    const at = typeof address === 'object' && address !== null ? `${address.address} port ${address.port}` : (address ?? 'no address');
    return `MuxServer { at: ${at}, peers: ${this.peers.size}, ${this.#policy.draining$.value ? 'draining' : 'taking peers'} }`;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /** Keeps Vue from wrapping it in a Proxy, since Vue wraps only objects with the tag of a plain one. */
  get [Symbol.toStringTag](): string {
    return 'MuxServer';
  }

  address(): AddressInfo | string | null {
    return this.#server.address();
  }

  notify(payload?: unknown, options: ServerNotifyOptions = {}): number {
    return notifyAll(this.peers, payload, options);
  }

  stats(): ServerStats {
    const peers = [...this.peers].map((peer) => peer.stats());
    return {
      connections: { open: peers.length, opened: this.#opened },
      ...sumOf([this.#past, ...peers]),
      refusals: Object.fromEntries(this.#refusals),
      limits: this.#totals.usage(),
      peersNearLimits: nearLimits(peers),
    };
  }

  close(options: CloseOptions = {}): Promise<void> {
    const resolved = resolveClose(options);
    const { drainMs } = resolved;
    const deadline = steadyNow() + drainMs;
    const first = !this.#policy.draining$.value;
    if (first && this.#listenOptions.server === undefined && !this.#listenOptions.listenWhileDraining) this.#server.close();
    if (first || deadline < this.#deadline) {
      this.#deadline = deadline;
      this.#goaways.unsubscribe();
      this.#goaways = spreadGoaways(this.peers, resolved);
    }
    if (first) {
      void markHandled(this.listening);
      this.#stop();
    }
    return this.closed;
  }

  #stop(): void {
    this.#policy.draining$.next(true);
    this.#checkEmpty();
  }

  /** Leaves a rejected `listening` unhandled if the program did not handle it: the program must not end as if it had succeeded. */
  readonly #onError = (error: Error): void => {
    log('error', 'the server failed', error);
    if (!this.#server.listening && !this.#policy.draining$.value) this.#stop();
  };

  [asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #take = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    upgrade(request, socket, head, this.#policy, {
      accepted: (transport, context, seat) => {
        this.#accept(request, transport, context, seat);
      },
      refused: this.#refused,
      unanswered: () => undefined,
    });
  };

  readonly #refusePath = (request: IncomingMessage, socket: Duplex): void => {
    const reason = `nothing answers at ${oneLine(pathOf(request))}`;
    refuseUpgrade(request, socket, { status: 404, cause: 'path', reason }, this.#policy.log, this.#refused);
  };

  readonly #refused = (refusal: Refusal): void => {
    this.#refusals.set(refusal.status, (this.#refusals.get(refusal.status) ?? 0) + 1);
    this.#refusals$.next(refusal);
  };

  #accept(request: IncomingMessage, transport: Transport, context: PeerContext | undefined, seat: Seat): void {
    const resolved = this.#resolved;
    const { onStream, hello } = resolved.acceptor;
    const made = makePeer(resolved, transport);
    const { core, peer } = made;
    if (context !== undefined) core.context = context;
    take(seat, made, transport, () => {
      this.peers.delete(peer);
      this.#past = sumOf([this.#past, peer.stats()]);
      this.#checkEmpty();
    });
    this.#opened++;
    this.peers.add(peer);
    // A subscriber may add handlers, as `onPeer` may.
    const isKnown = this.#peers$.observed || (onStream === undefined && hello === null);
    this.#peers$.next(peer);
    announce(made, transport, resolved, request, isKnown);
  }

  #checkEmpty(): void {
    if (!this.#policy.draining$.value || this.peers.size > 0) return;
    this.#goaways.unsubscribe();
    this.#leaveServer();
    this.#policy.log.close();
    for (const subject of [this.#peers$, this.#refusals$]) completeGuarded('a subscriber of a server', subject);
    if (this.#listenOptions.server === undefined) this.#closeServer();
    else this.#end();
  }

  /** Ends the sockets of a server of its own. */
  #closeServer(): void {
    // Node calls back with an error if the server was closed before.
    this.#server.close(() => {
      this.#end();
    });
    // Also ends the connections that browsers opened in advance and never used.
    this.#server.closeAllConnections();
    // `closeAllConnections` misses connections whose TLS handshake is still under way.
    for (const socket of this.#sockets) socket.destroy();
  }
}
