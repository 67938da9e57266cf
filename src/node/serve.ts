import { errorMonitor } from 'node:events';
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { Subject, Subscription, defer, from, merge, mergeMap, timer } from 'rxjs';
import { log } from '../logger.js';
import { resolveClose } from '../peer/options.js';
import type { CloseOptions, ResolvedClose } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { notifyOrWarn } from '../peer/peers.js';
import { completeGuarded } from '../rx/subscribers.js';
import { asyncDispose, markHandled, refuseThenable } from '../stream/promises.js';
import { SharedPayload } from '../stream/payload.js';
import { asGiven, checkBoolean, checkFunction, checkObject, checkOptions, oneLine, optionError, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { steadyNow } from '../util/time.js';
import { announcePeer, peerOver, policyOf, resolveAccept } from './accept.js';
import type { ResolvedUpgrade } from './accept.js';
import { GivenServer, OwnServer } from './http-host.js';
import type { HttpHost } from './http-host.js';
import { NO_LOAD, nearLimits, sumOf } from './mux-server.js';
import type { MuxServer, Refusal, ServeOptions, ServerNotifyOptions, ServerStats } from './mux-server.js';
import { RefusalLog, pathOf } from './refusal.js';
import { Totals, totalsOf } from './totals.js';
import { takeUpgrades } from './upgrade-hub.js';
import { refuseUpgrade, upgrade } from './upgrade.js';
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

/** Closes many peers one after the other, over the first half of their drain. So they do not all dial the next server at once. */
export class SpreadGoaways {
  /** The goaways that are not sent yet. */
  #pending = new Subscription();

  /** Closes each of `peers`. Replaces the goaways of an earlier call that are not sent yet. */
  send(peers: ReadonlySet<Peer>, options: ResolvedClose): void {
    const { drainMs } = options;
    this.stop();
    this.#pending = new Subscription();
    const spread = Math.min(drainMs / 2, LONGEST_SPREAD_MS);
    let nth = 0;
    for (const peer of peers) {
      const wait = (spread * nth++) / peers.size;
      if (wait === 0) void peer.close(options);
      else this.#pending.add(timer(wait).subscribe(() => void peer.close({ ...options, drainMs: drainMs - wait })));
    }
  }

  stop(): void {
    this.#pending.unsubscribe();
  }
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
  readonly #host: HttpHost;
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
  readonly #goaways = new SpreadGoaways();
  readonly #leaveServer: () => void;
  #end: () => void = () => undefined;

  constructor(options: ServeOptions) {
    this.#listenOptions = readListenOptions(checkObject('options', options));
    const { server, tls, path, port, host, totalLimits = new Totals() } = this.#listenOptions;
    this.#totals = totalLimits;
    this.#resolved = resolveAccept({ ...options, totalLimits }, LISTEN_OPTIONS);
    this.#policy = policyOf(this.#resolved, new RefusalLog());
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    const isDraining = (): boolean => this.#policy.draining$.value;
    this.#host = server === undefined ? new OwnServer(tls, isDraining) : new GivenServer(server);
    this.#leaveServer = takeUpgrades(this.#host.server, {
      path,
      isDraining,
      take: this.#take,
      refusePath: this.#refusePath,
    });
    this.listening = listening(this.#host.server);
    if (server !== undefined) {
      // The server's own `error` event reports the same error.
      void markHandled(this.listening);
      return;
    }
    this.#host.server.on('error', this.#onError);
    this.#host.server.listen(port, host);
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
    return this.#host.server.address();
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
    if (first && this.#listenOptions.server === undefined && !this.#listenOptions.listenWhileDraining) this.#host.server.close();
    if (first || deadline < this.#deadline) {
      this.#deadline = deadline;
      this.#goaways.send(this.peers, resolved);
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
    if (!this.#host.server.listening && !this.#policy.draining$.value) this.#stop();
  };

  [asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #take = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    upgrade(request, socket, head, this.#policy, {
      accepted: (transport, context, seat) => {
        const peer = peerOver(transport, this.#resolved.acceptor, seat, context);
        this.#add(peer);
        announcePeer(peer, transport, this.#resolved, request);
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

  #add(peer: Peer): void {
    this.#opened++;
    this.peers.add(peer);
    void peer.closed.then(() => {
      this.peers.delete(peer);
      this.#past = sumOf([this.#past, peer.stats()]);
      this.#checkEmpty();
    });
    this.#peers$.next(peer);
  }

  #checkEmpty(): void {
    if (!this.#policy.draining$.value || this.peers.size > 0) return;
    this.#goaways.stop();
    this.#leaveServer();
    this.#policy.log.close();
    for (const subject of [this.#peers$, this.#refusals$]) completeGuarded('a subscriber of a server', subject);
    this.#host.close(this.#end);
  }
}
