import { createServer } from 'node:http';
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { Observable, Subject, timer } from 'rxjs';
import type { CloseOptions, Peer } from '../peer/peer.js';
import { subprotocol } from '../wire/subprotocol.js';
import { acceptTransport, resolveAccept } from './accept.js';
import type { UpgradeOptions } from './accept.js';
import { respond, upgrade } from './upgrade.js';

/** An upgrade request that was answered with something else than 101. */
export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly request: IncomingMessage;
}

interface ServeBase extends UpgradeOptions {
  /** Answers only upgrades of this path. Default: every path. */
  readonly path?: string | undefined;
}

/** Listens on a port of its own, or joins an HTTP server of yours. */
export type ServeOptions = ServeBase &
  (
    | { readonly port: number; readonly host?: string | undefined; readonly tls?: TlsOptions | undefined; readonly server?: never }
    | { readonly server: HttpServer | HttpsServer; readonly port?: never }
  );

/** A server and the peers that have dialed it. */
export interface MuxServer {
  /** The peers that are connected now. */
  readonly peers: ReadonlySet<Peer>;
  /** Each peer as it connects, a turn before it begins to read; completes when the server has closed. */
  readonly peers$: Observable<Peer>;
  /** Each upgrade request that was refused. */
  readonly refusals$: Observable<Refusal>;
  /** Resolves with the address once the server listens; rejects when it cannot. */
  readonly listening: Promise<AddressInfo | string>;
  /** The address it listens on; `null` before. */
  address(): AddressInfo | string | null;
  /** Resolves once every peer has closed. */
  readonly closed: Promise<void>;
  /**
   * Answers 503 from now on and closes every peer as `peer.close(options)` does, their goaways spread over the first half of
   * `drainMs`, at most 5 s, so that their clients do not come back as a herd.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** Goaways are spread over no more than this, in ms. */
const LONGEST_SPREAD_MS = 5_000;

/**
 * Accepts peers on a port, or on an HTTP server of yours whose other routes go on as they were.
 *
 * An upgrade is judged before it happens: 400 for anything but the exact subprotocol in first place, 403 for a page of
 * another origin, 401 or 403 from `verify`, 503 while draining.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option
 *
 * @example
 * ```ts
 * const server = serve({ port: 0, handler: (payload, stream) => stream.reply(payload) });
 * await server.listening;   // { address: '::', family: 'IPv6', port: 41235 }
 * ```
 */
export function serve(options: ServeOptions): MuxServer {
  return new Acceptor(options);
}

class Acceptor implements MuxServer {
  readonly peers = new Set<Peer>();
  readonly listening: Promise<AddressInfo | string>;
  readonly closed: Promise<void>;
  readonly #peers$ = new Subject<Peer>();
  readonly #refusals$ = new Subject<Refusal>();
  readonly #server: HttpServer | HttpsServer;
  readonly #own: boolean;
  readonly #options: ServeOptions;
  readonly #resolved;
  #draining = false;
  #end: () => void = () => undefined;

  constructor(options: ServeOptions) {
    this.#options = options;
    this.#resolved = resolveAccept(options);
    this.#own = options.server === undefined;
    this.#server = options.server ?? ownServer(options.tls);
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#server.on('upgrade', this.#onUpgrade);
    this.listening = this.#listen();
    this.listening.catch(() => undefined);
  }

  get peers$(): Observable<Peer> {
    return this.#peers$.asObservable();
  }

  get refusals$(): Observable<Refusal> {
    return this.#refusals$.asObservable();
  }

  address(): AddressInfo | string | null {
    return this.#server.address();
  }

  close(options: CloseOptions = {}): Promise<void> {
    const spread = Math.min((options.drainMs ?? 0) / 2, LONGEST_SPREAD_MS);
    const first = !this.#draining;
    this.#draining = true;
    let nth = 0;
    for (const peer of this.peers) {
      const wait = (spread * nth++) / this.peers.size;
      if (wait < 1) void peer.close(options);
      else timer(wait).subscribe(() => void peer.close({ ...options, drainMs: (options.drainMs ?? 0) - wait }));
    }
    if (first) this.#checkEmpty();
    return this.closed;
  }

  #listen(): Promise<AddressInfo | string> {
    const server = this.#server;
    const { port, host } = { host: undefined, ...this.#options } as { readonly port?: number; readonly host?: string | undefined };
    return new Promise((resolve, reject) => {
      const listens = (): void => {
        const address = server.address();
        if (address === null) reject(new Error('the server was closed before it listened'));
        else resolve(address);
      };
      if (server.listening) {
        listens();
        return;
      }
      server.once('error', reject);
      server.once('listening', listens);
      server.once('close', listens);
      if (this.#own) server.listen(port, host);
    });
  }

  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { path } = this.#options;
    if (path !== undefined && pathOf(request) !== path) {
      // Somebody else may answer this path.
      if (this.#server.listenerCount('upgrade') === 1) this.#refuse(request, socket, 404, `nothing answers at ${pathOf(request)}`);
      return;
    }
    const { codec, limits } = this.#resolved;
    const gate = { ...this.#options, protocol: subprotocol(codec), maxPayload: limits.maxMessageBytes, draining: this.#draining };
    upgrade(request, socket, head, gate, {
      accepted: (transport, context) => {
        const peer = acceptTransport(transport, this.#resolved, this.#options, request, context, (made) => {
          this.#add(made);
        });
        if (this.#draining) void peer.close();
      },
      refused: (status, reason) => {
        this.#refusals$.next({ status, reason, request });
      },
    });
  };

  #refuse(request: IncomingMessage, socket: Duplex, status: number, reason: string): void {
    respond(socket, status, reason);
    this.#refusals$.next({ status, reason, request });
  }

  #add(peer: Peer): void {
    this.peers.add(peer);
    void peer.closed.then(() => {
      this.peers.delete(peer);
      this.#checkEmpty();
    });
    this.#peers$.next(peer);
  }

  #checkEmpty(): void {
    if (!this.#draining || this.peers.size > 0) return;
    this.#server.off('upgrade', this.#onUpgrade);
    this.#peers$.complete();
    this.#refusals$.complete();
    if (this.#own) this.#server.close(this.#end);
    else this.#end();
  }
}

function ownServer(tls: TlsOptions | undefined): HttpServer | HttpsServer {
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on('request', (_request, response) => {
    response.writeHead(426, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' }).end('expected a WebSocket upgrade\n');
  });
  return server;
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}
