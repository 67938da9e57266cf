import { createServer } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { checkObject } from '../util/check.js';
import { PLAIN_TEXT, RETRY_AFTER } from './upgrade.js';

/** The HTTP server whose upgrades become peers. */
export interface HttpHost {
  readonly server: HttpServer | HttpsServer;
  /** Called when the last peer has left. Ends the sockets that the host owns, and then calls `closed`. */
  close(closed: () => void): void;
}

/** A server of the user's, which stays open. */
export class GivenServer implements HttpHost {
  constructor(readonly server: HttpServer | HttpsServer) {}

  close(closed: () => void): void {
    closed();
  }
}

/** An HTTP server that only upgrades. It answers each ordinary request with 426, and with 503 while it drains. */
export class OwnServer implements HttpHost {
  readonly server: HttpServer | HttpsServer;
  /** The TCP connections below TLS. */
  readonly #connections = new Set<Socket>();

  /** @throws TypeError unless `tls` is an object; any error that Node throws for `tls` */
  constructor(tls: TlsOptions | undefined, isDraining: () => boolean) {
    this.server = tls === undefined ? createServer() : createTlsServer(checkObject('tls', tls));
    this.server.on('request', (_request, response) => {
      if (isDraining())
        response.writeHead(503, { ...PLAIN_TEXT, Connection: 'close', 'Retry-After': RETRY_AFTER }).end('this side is going away\n');
      else response.writeHead(426, { ...PLAIN_TEXT, Connection: 'close' }).end('expected a WebSocket upgrade\n');
    });
    if (tls !== undefined) this.server.on('connection', this.#onConnection);
  }

  close(closed: () => void): void {
    // Node calls back with an error if the server was closed before.
    this.server.close(() => {
      closed();
    });
    // Also ends the connections that browsers opened in advance and never used.
    this.server.closeAllConnections();
    // `closeAllConnections` misses connections whose TLS handshake is still under way.
    for (const socket of this.#connections) socket.destroy();
  }

  readonly #onConnection = (socket: Socket): void => {
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
  };
}
