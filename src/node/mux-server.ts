import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Observable } from 'rxjs';
import type { HandlerFailure } from '../peer/hooks.js';
import type { CloseOptions } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import type { PeerStats, Usage } from '../peer/stats.js';
import type { Given } from '../util/check.js';
import type { MetadataInput } from '../wire/frame.js';
import type { UpgradeOptions } from './accept.js';
import type { TotalLimits, Totals } from './totals.js';

/** An upgrade request with another answer than 101. It prints, and goes into JSON, as one line without headers. */
export interface Refusal {
  /** The HTTP status: 400, 401, 403, 404, 500, 503, or the one of `refuse` (V2, V6). */
  readonly status: number;
  /** The line of text in the answer, written for people. */
  readonly reason: string;
  /** The request, cookies included. Its socket has ended. */
  readonly request: IncomingMessage;
  /** For example `404 /other: nothing answers at /other`. The path omits the query, which may hold a token. */
  toString(): string;
}

/** Options of `serve` that do not depend on where it listens. */
export interface ServeBase extends Omit<UpgradeOptions, 'totalLimits'> {
  /**
   * Bounds all connections of this server together, beside `limits` of each connection. Servers that get the same {@link Totals} count
   * together. Default none.
   */
  readonly totalLimits?: Given<TotalLimits> | Totals | undefined;
  /**
   * Answers only upgrades of this path, which begins with `/`; a query does not count. The other `upgrade` listeners of a joined server do
   * not see them. Default every path; beside other listeners every upgrade that offers a subprotocol `mux.v1.…`.
   */
  readonly path?: string | undefined;
}

/** Options of `serve`, which listens on a port of its own or joins an HTTP server of yours. */
export type ServeOptions = ServeBase &
  (
    | {
        /** Port to listen on; 0 takes a free one. Default none: a server needs `port` or `server`. */
        readonly port: number;
        /** Address to listen on. Default all addresses. */
        readonly host?: string | undefined;
        /** Serves `wss:`, with `cert` and `key` for example. Default none: `ws:`. */
        readonly tls?: TlsOptions | undefined;
        /**
         * Keeps its port while it drains, and answers 503 there, for a load balancer that looks for one. The next process can take the
         * port only when this one has drained. Default `false`: the next process can listen at once.
         */
        readonly listenWhileDraining?: boolean | undefined;
        /** The server listens on a port of its own. */
        readonly server?: undefined;
      }
    | {
        /** HTTP server to join; it is yours to start and to stop. Default none: a server needs `port` or `server`. */
        readonly server: HttpServer | HttpsServer;
        /** The HTTP server chooses the port. */
        readonly port?: undefined;
        /** The HTTP server keeps its port. */
        readonly listenWhileDraining?: undefined;
      }
  );

/** Options of a payload for many peers. */
export interface ServerNotifyOptions {
  /** Chooses the peers. Default every peer. */
  readonly to?: ((peer: Peer) => boolean) | undefined;
  /** Headers of each open; the open interceptors of each peer see a copy. Default none. */
  readonly headers?: MetadataInput | undefined;
}

/** A server and the peers that have dialed it. */
export interface MuxServer {
  /** The peers that are connected now. */
  readonly peers: ReadonlySet<Peer>;
  /**
   * Emits each peer as it connects, one turn before it begins to read; earlier peers are in {@link peers}. Completes when the server
   * has closed.
   */
  readonly peers$: Observable<Peer>;
  /** Emits each refused upgrade request; completes with {@link peers$}. */
  readonly refusals$: Observable<Refusal>;
  /**
   * Emits each error of a handler of any peer, as `peer.errors$`. While it has a subscriber, the log shows none of these errors.
   * Completes once the server and its peers have closed.
   */
  readonly errors$: Observable<HandlerFailure>;
  /**
   * Resolves with the address once the server listens; rejects when it cannot. For a port of its own, an unhandled rejection ends the
   * program. A server of yours on a Unix socket has the path as its `address`, the family `Unix` and the port 0.
   *
   * @example
   * ```ts
   * const { port } = await server.listening;   // 41235
   * ```
   */
  readonly listening: Promise<AddressInfo>;
  /**
   * The address that a dialer on this machine passes to `connect`: `wss:` for a server with TLS, the given host, or `localhost` for all
   * addresses, and `path`. It does not know of a proxy in front of the server.
   *
   * @throws Error before the server listens, after it has stopped listening, and on a Unix socket
   *
   * @example
   * ```ts
   * await server.listening;
   * console.log('listening at', server.url);   // listening at ws://localhost:8080
   * ```
   */
  readonly url: string;
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
  /** The address that the server listens on, as Node has it: a Unix socket is a text. `null` before it listens. */
  address(): AddressInfo | string | null;
  /** Resolves once {@link close} was called and every peer has closed, or once the server has failed to listen. */
  readonly closed: Promise<void>;
  /**
   * Sends one payload to every peer, as `peer.notify` does, and encodes it once. Peers that drain are left out. A peer that cannot queue the
   * payload is left out with a warning in the log.
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
   * at most 5 s, so that the clients do not all reconnect at once.
   *
   * A port of its own is free at once, in a worker of `node:cluster` too: the next process can listen there while this one drains. A
   * server of yours keeps its port, and upgrades are answered 503 with `Retry-After`. A second call can only shorten the drain.
   *
   * @returns the same promise as {@link closed}, which never rejects
   * @throws TypeError for a bad option, as `peer.close` does
   *
   * @example
   * ```ts
   * process.once('SIGTERM', () => void server.close({ drainMs: 10_000 }));
   * await server.closed;   // every peer has closed; open streams had 10 s to end
   * ```
   */
  close(options?: CloseOptions): Promise<void>;
  /**
   * Calls {@link close} with a `drainMs` of 0 at the end of an `await using` block, and waits for it.
   *
   * @example
   * ```ts
   * await using server = serve({ port: 0, handler: (payload, stream) => stream.reply(payload) });
   * await server.listening;   // the server closes at the end of the block
   * ```
   */
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
