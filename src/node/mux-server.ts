import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { PeerServer } from '../acceptor/peer-server.js';
import type { RefusalOf } from '../acceptor/refusals.js';
import type { TotalLimits, Totals } from '../acceptor/totals.js';
import type { CloseOptions } from '../peer/options.js';
import type { Given } from '../util/check.js';
import type { UpgradeOptions } from './accept.js';

/** An upgrade request with another answer than 101. */
export type Refusal = RefusalOf<IncomingMessage>;

/** Options of `serve` that do not depend on where it listens. */
export interface ServeBase extends Omit<UpgradeOptions, 'totalLimits'> {
  /**
   * Bounds all connections of this server together, beside `limits` of each connection. Servers that get the same {@link Totals} count
   * together. Default none.
   */
  readonly totalLimits?: Given<TotalLimits> | Totals | undefined;
  /**
   * Answers only upgrades of this path, which begins with `/`, encoded as in a URL; a query does not count. The other `upgrade` listeners
   * of a joined server do not see them. Default every path; beside other listeners every upgrade that offers a subprotocol `mux.v1.…`.
   */
  readonly path?: string | undefined;
  /**
   * Answers GET and HEAD of this path for health checks: 200, and 503 with `Retry-After: 1` while the server drains. On a server of
   * yours your own handlers do not see these requests. Servers that share the path answer 200 as long as one of them takes peers. Every
   * other ordinary request to a port of its own gets 426. Default none.
   *
   * @example
   * ```ts
   * serve({ port: 8080, healthPath: '/healthz' });   // GET /healthz: 200 ok
   * ```
   */
  readonly healthPath?: string | undefined;
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

/** A server and the peers that have dialed it. */
export interface MuxServer extends PeerServer<IncomingMessage> {
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
  /** The address that the server listens on, as Node has it: a Unix socket is a text. `null` before it listens. */
  address(): AddressInfo | string | null;
  /** Resolves once {@link close} was called and every peer has closed, or once the server has failed to listen. */
  readonly closed: Promise<void>;
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
