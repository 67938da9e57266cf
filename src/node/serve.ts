import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { PeerSet } from '../acceptor/peer-set.js';
import { Totals } from '../acceptor/totals.js';
import { log } from '../logger.js';
import { checkObject, markHandled, oneLine } from '../util/check.js';
import { noteOversize, policyOf, remoteOf, resolveAccept } from './accept.js';
import type { ResolvedUpgrade } from './accept.js';
import { nameProxyHeaders } from './intercept.js';
import { LISTEN_OPTIONS, listening, nameTakenPort, ownServer, readListenOptions, urlOf } from './listen.js';
import type { ListenOptions } from './listen.js';
import type { MuxServer, ServeOptions } from './mux-server.js';
import { pathOf, refuseUpgrade } from './refusal.js';
import { takeUpgrades } from './upgrade-hub.js';
import type { UpgradeTaker } from './upgrade-hub.js';
import { upgrade } from './upgrade.js';
import type { UpgradePolicy } from './upgrade.js';

/**
 * Accepts peers on a port, or on an HTTP server of yours, whose other routes keep working.
 *
 * The server judges an upgrade before it happens (V2, V6). It refuses with one of these statuses:
 *
 * - 400: the exact subprotocol is not in first place, or the handshake is malformed
 * - 401, 403, or a status of `refuse`: the verdict of `verify`
 * - 403: `origins` does not admit the page
 * - 404: the path is not `path`, and no other listener on the server can answer it
 * - 500: `verify`, `origins` or `trustProxy` throws
 * - 503: the server drains, `totalLimits` are reached, or `verify` takes longer than `verifyTimeoutMs`
 *
 * A server of its own answers ordinary requests with 426, and with 503 while draining. `healthPath` is answered with 200.
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

class NodeMuxServer extends PeerSet<IncomingMessage> implements MuxServer {
  readonly listening: Promise<AddressInfo>;
  readonly #server: HttpServer | HttpsServer;
  /** Ends a server of its own; a server of the user's stays open. */
  readonly #endServer: (ended: () => void) => void;
  readonly #listenOptions: ListenOptions;
  readonly #policy: UpgradePolicy;
  declare protected readonly resolved: ResolvedUpgrade;

  constructor(options: ServeOptions) {
    const listenOptions = readListenOptions(checkObject('options', options));
    const { server, tls, path, healthPath, port, host, totalLimits = new Totals() } = listenOptions;
    const resolved = resolveAccept({ ...options, totalLimits }, LISTEN_OPTIONS);
    super(resolved);
    this.#listenOptions = listenOptions;
    this.#policy = policyOf(resolved, this.log, this.draining$);
    const isDraining = (): boolean => this.draining$.value;
    const own = server === undefined ? ownServer(tls, isDraining) : { server, end: called };
    this.#server = own.server;
    const leave = takeUpgrades(this.#server, { path, healthPath, isDraining, take: this.#take, refusePath: this.#refusePath });
    this.#endServer = (ended) => {
      leave();
      own.end(ended);
    };
    this.listening = listening(this.#server);
    if (server !== undefined) {
      // The server's own `error` event reports the same error.
      void markHandled(this.listening);
      return;
    }
    nameProxyHeaders(this.#server, this.log);
    this.#server.on('error', this.#onError);
    this.#server.listen(port, host);
  }

  override toString(): string {
    const address = this.address();
    const at = typeof address === 'object' && address !== null ? `${address.address} port ${address.port}` : (address ?? 'no address');
    return `MuxServer { at: ${at}, peers: ${this.peers.size}, ${this.draining$.value ? 'draining' : 'taking peers'} }`;
  }

  get url(): string {
    return urlOf(this.#server, this.#listenOptions.host, this.#listenOptions.path);
  }

  address(): AddressInfo | string | null {
    return this.#server.address();
  }

  protected override closing(): void {
    if (this.#listenOptions.server === undefined && !this.#listenOptions.listenWhileDraining) this.#server.close();
    void markHandled(this.listening);
  }

  protected override leave(ended: () => void): void {
    this.#endServer(ended);
  }

  /** Leaves a rejected `listening` unhandled if the program did not handle it: the program must not end as if it had succeeded. */
  readonly #onError = (error: Error): void => {
    if (nameTakenPort(error, this.#listenOptions)) log('error', `the server failed: ${error.message}`);
    else log('error', 'the server failed', error);
    if (!this.#server.listening && !this.draining$.value) this.stop();
  };

  readonly #take = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    upgrade(request, socket, head, this.#policy, {
      accepted: (transport, context, seat) => {
        noteOversize(this.accept(request, remoteOf(request), transport, context, seat), transport, this.resolved, this.log);
      },
      refused: this.refused,
      unanswered: () => undefined,
    });
  };

  readonly #refusePath = (request: IncomingMessage, socket: Duplex, takers: Iterable<UpgradeTaker>): void => {
    const reason = `nothing answers at ${oneLine(pathOf(request))}`;
    // Only the log names the paths: the remote need not know them.
    const detail = `; this server answers at ${[...new Set([...takers].map(({ path }) => path))].join(', ')}`;
    refuseUpgrade(request, socket, { status: 404, cause: 'path', reason, detail }, this.log, this.refused);
  };
}

function called(ended: () => void): void {
  ended();
}
