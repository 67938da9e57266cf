import type { Observable } from 'rxjs';
import type { HandlerFailure } from '../peer/hooks.js';
import type { CloseOptions } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import type { PeerStats, Usage } from '../peer/stats.js';
import type { MetadataInput } from '../wire/frame.js';
import type { RefusalOf } from './refusals.js';
import type { TotalLimits } from './totals.js';

/** Options of a payload for many peers. */
export interface ServerNotifyOptions {
  /** Chooses the peers. Default every peer. */
  readonly to?: ((peer: Peer) => boolean) | undefined;
  /** Headers of each open; the open interceptors of each peer see a copy. Default none. */
  readonly headers?: MetadataInput | undefined;
}

/** The peers that have dialed one server, whose requests are of the type `Q`. */
export interface PeerServer<Q> {
  /** The peers that are connected now. */
  readonly peers: ReadonlySet<Peer>;
  /**
   * Emits each peer as it connects, one turn before it begins to read; earlier peers are in {@link peers}. Completes when the server
   * has closed.
   */
  readonly peers$: Observable<Peer>;
  /** Emits each refused upgrade request; completes with {@link peers$}. */
  readonly refusals$: Observable<RefusalOf<Q>>;
  /**
   * Emits each error of a handler of any peer, as `peer.errors$`. While it has a subscriber, the log shows none of these errors.
   * Completes once the server and its peers have closed.
   */
  readonly errors$: Observable<HandlerFailure>;
  /**
   * Returns facts about this server now: the sums of the {@link Peer.stats} of its peers, its connections, its refusals by HTTP status, and
   * the use of its limits. It looks at every peer.
   *
   * @example
   * ```ts
   * server.stats().limits.maxConnections;   // { used: 9210, max: 10000 }
   * server.stats().ended;                   // { ended: 81344, lost: 12, 'remote reset CANCEL': 903 }
   * ```
   */
  stats(): ServerStats;
  /** Resolves once {@link close} was called and every peer has closed. */
  readonly closed: Promise<void>;
  /**
   * Sends one payload to every peer, as `peer.notify` does, and encodes it once. Peers that drain are left out, and so are peers whose hello
   * `onHello` has not accepted yet. A peer that cannot queue the payload is left out with a warning in the log.
   *
   * Nothing holds up a server that pushes faster than a peer reads: let `to` leave out peers with a large `bufferedAmount`.
   *
   * @returns how many peers it was sent to
   * @throws TypeError for a payload or headers that the codec cannot represent, and for a bad option
   *
   * @example
   * ```ts
   * server.notify({ op: 'news' }, { to: (peer) => peer.bufferedAmount < 1_000_000 });   // 3
   * ```
   */
  notify(payload?: unknown, options?: ServerNotifyOptions): number;
  /**
   * Accepts no new peers, and closes every peer as `peer.close(options)` does. The goaways are spread over the first half of `drainMs`,
   * at most 5 s, so that the clients do not all reconnect at once. Upgrades are answered 503 with `Retry-After`. A second call can only
   * shorten the drain.
   *
   * @returns the same promise as {@link closed}, which never rejects
   * @throws TypeError for a bad option, as `peer.close` does
   *
   * @example
   * ```ts
   * await mux.close({ drainMs: 10_000 });   // every peer has closed; open streams had 10 s to end
   * ```
   */
  close(options?: CloseOptions): Promise<void>;
  /** Calls {@link close} with a `drainMs` of 0 at the end of an `await using` block, and waits for it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The facts that add up. */
type Load = Omit<PeerStats, 'limits' | 'rttMs'>;

/** Facts about a server at one moment: the sums of its peers, those that have closed included. */
export interface ServerStats extends Load {
  /** The connections of the server. */
  readonly connections: {
    /** Connections that are open now. */
    readonly open: number;
    /** All connections since the server began. */
    readonly opened: number;
  };
  /** Upgrades that were answered with each HTTP status in place of 101. */
  readonly refusals: Readonly<Record<number, number>>;
  /** Each total limit that was set, and how much of it is used: by other servers, too, that share their `Totals`. */
  readonly limits: { readonly [Limit in keyof TotalLimits]?: Usage };
  /** How many peers use at least four fifths of a limit of their own. */
  readonly peersNearLimits: { readonly [Limit in keyof PeerStats['limits']]: number };
}

/** A limit counts as nearly met from so much of it on. */
const NEAR = 4 / 5;

/** The load of no peer. */
export const NO_LOAD: Load = {
  streams: { open: 0, remote: 0, waiting: 0, opened: 0 },
  ended: {},
  sent: { frames: 0, bytes: 0 },
  received: { frames: 0, bytes: 0 },
  queue: { frames: 0, bytes: 0 },
  bytes: { held: 0, unsent: 0 },
};

/** Adds up the facts of several peers. */
export function sumOf(loads: readonly Load[]): Load {
  const sums = Object.keys(NO_LOAD).map((fact) => [fact, sum(loads.map((load) => load[fact as keyof Load]))] as const);
  return Object.fromEntries(sums) as unknown as Load;
}

/** Returns how many peers are near each limit. */
export function nearLimits(peers: readonly PeerStats[]): ServerStats['peersNearLimits'] {
  const near = (limit: keyof PeerStats['limits']): number =>
    peers.filter(({ limits }) => limits[limit].used >= limits[limit].max * NEAR).length;
  return {
    maxStreams: near('maxStreams'),
    maxHeldBytes: near('maxHeldBytes'),
    maxUnsentBytes: near('maxUnsentBytes'),
    maxQueuedBytes: near('maxQueuedBytes'),
  };
}

/** Adds up counts that have the same keys, or more. */
function sum(all: readonly object[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all)
    for (const [key, count] of Object.entries<number>(counts as Record<string, number>)) sums[key] = (sums[key] ?? 0) + count;
  return sums;
}
