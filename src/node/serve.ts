import { createServer } from 'node:http';
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { defer, from, merge, mergeMap, Subject, Subscription, timer } from 'rxjs';
import type { BehaviorSubject } from 'rxjs';
import { log } from '../logger.js';
import { asyncDispose } from '../peer/base/async-dispose.js';
import { resolveClose } from '../peer/base/close-options.js';
import type { CloseOptions, ResolvedClose } from '../peer/base/close-options.js';
import { completeGuarded } from '../rx/guard.js';
import { disown } from '../peer/base/guard.js';
import type { Peer } from '../peer/peer.js';
import { steadyNow } from '../transport/steady-clock.js';
import { checkObject } from '../wire/check.js';
import { oneLine } from '../wire/quoted.js';
import { policyOf, peerOver, announcePeer } from './accept.js';
import { resolveAccept } from './accept-options.js';
import type { ResolvedUpgrade } from './accept-options.js';
import { PLAIN_TEXT } from './answer-http.js';
import { listening } from './listening.js';
import type { MuxServer, Refusal, ServeOptions, ServerNotifyOptions } from './mux-server.js';
import { notifyAll } from './notify-all.js';
import { readPlace } from './place.js';
import type { Place } from './place.js';
import { pathOf, RefusalLog } from './refusal.js';
import { NO_LOAD, nearLimits, sumOf } from './server-stats.js';
import type { ServerStats } from './server-stats.js';
import { Totals } from './total-limits.js';
import { takeUpgrades } from './upgrade-hub.js';
import { refuseUpgrade, RETRY_AFTER, upgrade } from './upgrade.js';
import type { UpgradePolicy } from './upgrade.js';

/** The longest time over which goaways are spread, in ms. */
const LONGEST_SPREAD_MS = 5_000;

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
  /** The TCP connections below TLS; only for a server of its own. */
  readonly #connections = new Set<Socket>();
  readonly #place: Place;
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
  /** The goaways that are not sent yet. */
  #pendingGoaways = new Subscription();
  readonly #leaveServer: () => void;
  #end: () => void = () => undefined;

  constructor(options: ServeOptions) {
    this.#place = readPlace(checkObject('options', options));
    const { server, tls, path, port, host, totalLimits = new Totals() } = this.#place;
    this.#totals = totalLimits;
    this.#resolved = resolveAccept({ ...options, totalLimits });
    this.#policy = policyOf(this.#resolved, new RefusalLog());
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#server = server ?? ownServer(tls, this.#policy.draining$);
    this.#leaveServer = takeUpgrades(this.#server, {
      path,
      isDraining: () => this.#policy.draining$.value,
      take: this.#take,
      refusePath: this.#refusePath,
    });
    this.listening = listening(this.#server);
    if (server !== undefined) {
      // The server's own `error` event reports the same error.
      void disown(this.listening);
      return;
    }
    this.#server.on('error', this.#onError);
    if (tls !== undefined) this.#server.on('connection', this.#onConnection);
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
    if (first && this.#place.server === undefined && !this.#place.listenWhileDraining) this.#server.close();
    if (first || deadline < this.#deadline) {
      this.#deadline = deadline;
      this.#sendGoaways(resolved);
    }
    if (first) {
      void disown(this.listening);
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

  #sendGoaways(options: ResolvedClose): void {
    const { drainMs } = options;
    this.#pendingGoaways.unsubscribe();
    this.#pendingGoaways = new Subscription();
    const spread = Math.min(drainMs / 2, LONGEST_SPREAD_MS);
    let nth = 0;
    for (const peer of this.peers) {
      const wait = (spread * nth++) / this.peers.size;
      if (wait === 0) void peer.close(options);
      else this.#pendingGoaways.add(timer(wait).subscribe(() => void peer.close({ ...options, drainMs: drainMs - wait })));
    }
  }

  readonly #onConnection = (socket: Socket): void => {
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
  };

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
    this.#pendingGoaways.unsubscribe();
    this.#leaveServer();
    this.#policy.log.close();
    for (const subject of [this.#peers$, this.#refusals$]) completeGuarded('a subscriber of a server', subject);
    if (this.#place.server !== undefined) {
      this.#end();
      return;
    }
    this.#server.close(() => {
      this.#end();
    });
    // Also ends the connections that browsers opened in advance and never used.
    this.#server.closeAllConnections();
    // `closeAllConnections` misses connections whose TLS handshake is still under way.
    for (const socket of this.#connections) socket.destroy();
  }
}

function ownServer(tls: TlsOptions | undefined, draining$: BehaviorSubject<boolean>): HttpServer | HttpsServer {
  const server = tls === undefined ? createServer() : createTlsServer(checkObject('tls', tls));
  server.on('request', (_request, response) => {
    if (draining$.value)
      response.writeHead(503, { ...PLAIN_TEXT, Connection: 'close', 'Retry-After': RETRY_AFTER }).end('this side is going away\n');
    else response.writeHead(426, { ...PLAIN_TEXT, Connection: 'close' }).end('expected a WebSocket upgrade\n');
  });
  return server;
}
