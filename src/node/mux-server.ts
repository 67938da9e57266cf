import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Observable } from 'rxjs';
import type { CloseOptions } from '../peer/base/close-options.js';
import type { HandlerFailure } from '../peer/base/hooks.js';
import type { Peer } from '../peer/peer.js';
import type { UpgradeOptions } from './accept.js';

/** An upgrade request that was answered with something else than 101. Prints, and goes into JSON, as one line without headers. */
export interface Refusal {
  /** The HTTP status: 400, 401, 403, 404, 500, 503, or the one of `refuse` (V2, V6). */
  readonly status: number;
  /** The line of text in the answer, for people. */
  readonly reason: string;
  /** The request, cookies included; its socket is ended. */
  readonly request: IncomingMessage;
  /** For example `404 /other: nothing answers at /other`. The path has no query, which may hold a token. */
  toString(): string;
}

interface ServeBase extends UpgradeOptions {
  /** Answers only upgrades of this path, which begins with `/`; a query does not count. Default every path. */
  readonly path?: string | undefined;
}

/** Listens on a port of its own, or joins an HTTP server of yours. */
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
        readonly server?: undefined;
      }
    | {
        /** HTTP server to join; it is yours to start and to stop. Default none: a server needs `port` or `server`. */
        readonly server: HttpServer | HttpsServer;
        readonly port?: undefined;
        readonly listenWhileDraining?: undefined;
      }
  );

/** A server and the peers that have dialed it. */
export interface MuxServer {
  /** The peers that are connected now. */
  readonly peers: ReadonlySet<Peer>;
  /** Each peer as it connects, a turn before it begins to read; those before are in {@link peers}. Completes when the server has closed. */
  readonly peers$: Observable<Peer>;
  /** Each upgrade request that is refused, as it is; completes with {@link peers$}. */
  readonly refusals$: Observable<Refusal>;
  /**
   * Each error of a handler of any peer, as `peer.errors$`. While somebody subscribes, the log shows none. Completes once the server
   * and its peers have closed.
   */
  readonly errors$: Observable<HandlerFailure>;
  /**
   * Resolves with the address once the server listens; rejects when it cannot. On a port of its own that rejection ends a program
   * which does not handle it.
   */
  readonly listening: Promise<AddressInfo | string>;
  /** The address it listens on; `null` before. */
  address(): AddressInfo | string | null;
  /** Resolves once {@link close} was called and every peer has closed, or once the server could not listen. */
  readonly closed: Promise<void>;
  /**
   * Takes no new peers and closes every peer as `peer.close(options)` does, their goaways spread over the first half of `drainMs`, at
   * most 5 s, so that their clients do not come back as a herd. A port of its own is free at once, in a worker of `node:cluster` too:
   * the next process can listen there while this one drains. A server of yours keeps its port: upgrades are answered 503 with
   * `Retry-After`. A second call can only shorten.
   *
   * @returns the same promise as {@link closed}, which never rejects
   * @throws TypeError for a bad option, as `peer.close` does
   *
   * @example
   * ```ts
   * process.once('SIGTERM', () => void server.close({ drainMs: 10_000 }));
   * await server.closed;   // every peer has closed; what was under way has had 10 s to end
   * ```
   */
  close(options?: CloseOptions): Promise<void>;
  /**
   * Calls {@link close} at the end of an `await using` block and waits for it. `drainMs` is 0 then.
   *
   * @example
   * ```ts
   * await using server = serve({ port: 0, handler: (payload, stream) => stream.reply(payload) });
   * await server.listening;   // the server closes where the block ends
   * ```
   */
  [Symbol.asyncDispose](): Promise<void>;
}
