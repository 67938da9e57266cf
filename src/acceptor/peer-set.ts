import { BehaviorSubject, Subject, Subscription, defer, from, merge, mergeMap, timer } from 'rxjs';
import { resolveClose } from '../peer/options.js';
import type { CloseOptions, PeerContext, ResolvedClose } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { notifyOrWarn, takesCalls } from '../peer/peers.js';
import { completeGuarded } from '../rx/subscribers.js';
import { asyncDispose, refuseThenable } from '../stream/promises.js';
import { SharedPayload } from '../stream/payload.js';
import type { Transport } from '../transport/transport.js';
import { checkFunction, checkOptions } from '../util/check.js';
import { steadyNow } from '../util/time.js';
import { announce, makePeer, take } from './accepted.js';
import type { Accepted } from './accepted.js';
import type { ResolvedJudged } from './options.js';
import { NO_LOAD, nearLimits, sumOf } from './peer-server.js';
import type { PeerServer, ServerNotifyOptions, ServerStats } from './peer-server.js';
import type { RefusalOf } from './refusals.js';
import { SparseLog } from './sparse-log.js';
import { Totals } from './totals.js';
import type { Seat } from './ledger.js';

/** Notifies every chosen peer of one payload. Returns how many. */
function notifyAll(peers: Iterable<Peer>, payload: unknown, options: ServerNotifyOptions): number {
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

/** The peers of one server, from their upgrades to the end of its drain. A server of a platform extends it. */
export class PeerSet<Q> implements PeerServer<Q> {
  readonly peers = new Set<Peer>();
  readonly closed: Promise<void>;
  readonly #peers$ = new Subject<Peer>();
  readonly peers$ = this.#peers$.asObservable();
  readonly #refusals$ = new Subject<RefusalOf<Q>>();
  readonly refusals$ = this.#refusals$.asObservable();
  readonly errors$ = defer(() => merge(from([...this.peers]), this.#peers$)).pipe(mergeMap(({ errors$ }) => errors$));
  /** Whether this server refuses all upgrades because it drains. */
  protected readonly draining$ = new BehaviorSubject(false);
  /** Counts the refusals of this server. */
  protected readonly log = new SparseLog();
  readonly #totals: Totals;
  /** How many peers have connected so far. */
  #opened = 0;
  /** The sums of the peers that have closed. */
  #past = NO_LOAD;
  /** How many upgrades were refused so far, by status. */
  readonly #refusals = new Map<number, number>();
  /** When the drain ends, on the clock of rxjs. */
  #deadline = Infinity;
  /** The first call of {@link close}, whose code and reason all goaways have. */
  #first: ResolvedClose | null = null;
  #goaways = Subscription.EMPTY;
  #end: () => void = () => undefined;

  constructor(protected readonly resolved: ResolvedJudged<Q>) {
    this.#totals = resolved.totalLimits ?? new Totals();
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The server has drained, or has failed. Calls `ended` once the server has released what it listens with. */
  protected leave(ended: () => void): void {
    ended();
  }

  toString(): string {
    return `MuxServer { peers: ${this.peers.size}, ${this.draining$.value ? 'draining' : 'taking peers'} }`;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /** Keeps Vue from wrapping it in a Proxy, since Vue wraps only objects with the tag of a plain one. */
  get [Symbol.toStringTag](): string {
    return 'MuxServer';
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
    const first = !this.draining$.value;
    this.#first ??= resolved;
    if (first) this.closing();
    if (first || deadline < this.#deadline) {
      this.#deadline = deadline;
      this.#goaways.unsubscribe();
      this.#goaways = spreadGoaways(this.peers, { ...this.#first, drainMs });
    }
    if (first) this.stop();
    return this.closed;
  }

  /** {@link close} was called for the first time. */
  protected closing(): void {
    // Only a server with a port of its own has anything to stop.
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Accepts no new peers from now on. */
  protected stop(): void {
    this.draining$.next(true);
    this.#checkEmpty();
  }

  /** Counts a refused upgrade. */
  protected readonly refused = (refusal: RefusalOf<Q>): void => {
    this.#refusals.set(refusal.status, (this.#refusals.get(refusal.status) ?? 0) + 1);
    this.#refusals$.next(refusal);
  };

  /**
   * Serves a peer over the socket of an upgrade.
   *
   * @param remote the address of the other side, for the log; empty if it is not known
   */
  protected accept(request: Q, remote: string, transport: Transport, context: PeerContext | undefined, seat: Seat): Accepted {
    const { resolved } = this;
    const { onStream, hello } = resolved.acceptor;
    const made = makePeer(resolved, remote, transport);
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
    return made;
  }

  #checkEmpty(): void {
    if (!this.draining$.value || this.peers.size > 0) return;
    this.#goaways.unsubscribe();
    this.leave(this.#end);
    this.log.close();
    for (const subject of [this.#peers$, this.#refusals$]) completeGuarded('a subscriber of a server', subject);
  }
}
