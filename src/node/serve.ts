import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
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
import { checkFunction, checkObject, checkOptions, oneLine } from '../util/check.js';
import { steadyNow } from '../util/time.js';
import { announce, makePeer, noteOversize, policyOf, resolveAccept, take } from './accept.js';
import type { ResolvedUpgrade } from './accept.js';
import { LISTEN_OPTIONS, listening, nameTakenPort, ownServer, readListenOptions, urlOf } from './listen.js';
import type { ListenOptions } from './listen.js';
import { SparseLog } from './log.js';
import { NO_LOAD, nearLimits, sumOf } from './mux-server.js';
import type { MuxServer, Refusal, ServeOptions, ServerNotifyOptions, ServerStats } from './mux-server.js';
import { pathOf, refuseUpgrade } from './refusal.js';
import { Totals } from './totals.js';
import type { Seat } from './totals.js';
import { takeUpgrades } from './upgrade-hub.js';
import type { UpgradeTaker } from './upgrade-hub.js';
import { upgrade } from './upgrade.js';
import type { UpgradePolicy } from './upgrade.js';

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
 * If the server cannot get its port, `listening` rejects with one line that says why, the log reports it, and `closed` resolves. A program
 * that never reads `listening` ends by that unhandled rejection.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option; any error that Node throws for `tls`
 *
 * @example
 * ```ts
 * const server = serve({ port: 0, handler: (payload, stream) => stream.reply(payload) });
 * const { port } = await server.listening;   // 41235
 * console.log(server.url);                   // ws://localhost:41235
 * ```
 */
export function serve(options: ServeOptions): MuxServer {
  return new NodeMuxServer(options);
}

class NodeMuxServer implements MuxServer {
  readonly peers = new Set<Peer>();
  readonly listening: Promise<AddressInfo>;
  readonly closed: Promise<void>;
  readonly #peers$ = new Subject<Peer>();
  readonly peers$ = this.#peers$.asObservable();
  readonly #refusals$ = new Subject<Refusal>();
  readonly refusals$ = this.#refusals$.asObservable();
  readonly errors$ = defer(() => merge(from([...this.peers]), this.#peers$)).pipe(mergeMap(({ errors$ }) => errors$));
  readonly #server: HttpServer | HttpsServer;
  /** Ends a server of its own; a server of the user's stays open. */
  readonly #endServer: (ended: () => void) => void;
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
    ({ server: this.#server, end: this.#endServer } =
      server === undefined
        ? ownServer(tls, isDraining)
        : {
            server,
            end: (ended) => {
              ended();
            },
          });
    this.#leaveServer = takeUpgrades(this.#server, { path, isDraining, take: this.#take, refusePath: this.#refusePath });
    this.listening = listening(this.#server);
    if (server !== undefined) {
      // The server's own `error` event reports the same error.
      void markHandled(this.listening);
      return;
    }
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

  get url(): string {
    return urlOf(this.#server, this.#listenOptions.host, this.#listenOptions.path);
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
    if (nameTakenPort(error, this.#listenOptions)) log('error', `the server failed: ${error.message}`);
    else log('error', 'the server failed', error);
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

  readonly #refusePath = (request: IncomingMessage, socket: Duplex, takers: Iterable<UpgradeTaker>): void => {
    const reason = `nothing answers at ${oneLine(pathOf(request))}`;
    // Only the log names the paths: the remote need not know them.
    const detail = `; this server answers at ${[...new Set([...takers].map(({ path }) => path))].join(', ')}`;
    refuseUpgrade(request, socket, { status: 404, cause: 'path', reason, detail }, this.#policy.log, this.#refused);
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
    noteOversize(made, transport, resolved, this.#policy.log);
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
    this.#endServer(this.#end);
  }
}
