import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Subject, defer, from, merge, mergeMap } from 'rxjs';
import { log } from '../logger.js';
import { asyncDispose } from '../peer/base/async-dispose.js';
import { resolveClose } from '../peer/base/close-options.js';
import type { CloseOptions } from '../peer/base/close-options.js';
import { markHandled } from '../peer/base/guard.js';
import type { Peer } from '../peer/peer.js';
import { completeGuarded } from '../rx/guard.js';
import { steadyNow } from '../util/time.js';
import { checkObject } from '../wire/check.js';
import { oneLine } from '../wire/quoted.js';
import { resolveAccept } from './accept-options.js';
import type { ResolvedUpgrade } from './accept-options.js';
import { announcePeer, peerOver, policyOf } from './accept.js';
import { GivenServer, OwnServer } from './http-host.js';
import type { HttpHost } from './http-host.js';
import { LISTEN_OPTIONS, readListenOptions } from './listen-options.js';
import type { ListenOptions } from './listen-options.js';
import { listening } from './listening.js';
import type { MuxServer, Refusal, ServeOptions, ServerNotifyOptions } from './mux-server.js';
import { notifyAll } from './notify-all.js';
import { RefusalLog, pathOf } from './refusal.js';
import { NO_LOAD, nearLimits, sumOf } from './server-stats.js';
import type { ServerStats } from './server-stats.js';
import { SpreadGoaways } from './spread-goaways.js';
import { Totals } from './total-limits.js';
import { takeUpgrades } from './upgrade-hub.js';
import type { UpgradePolicy } from './upgrade-policy.js';
import { refuseUpgrade, upgrade } from './upgrade.js';

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
