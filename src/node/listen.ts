import { errorMonitor } from 'node:events';
import type { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { GOING_AWAY, UPGRADE_REQUIRED } from '../acceptor/judge.js';
import { refuseGiven } from '../acceptor/options.js';
import { totalsOf } from '../acceptor/totals.js';
import type { Totals } from '../acceptor/totals.js';
import { asGiven, checkBoolean, checkObject, optionError, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { answerOrdinary } from './intercept.js';
import type { ServeOptions } from './mux-server.js';

/** {@link ServeOptions} beyond the options of every upgrade, checked and with defaults. */
export interface ListenOptions {
  readonly path: string | undefined;
  readonly healthPath: string | undefined;
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly tls: TlsOptions | undefined;
  readonly listenWhileDraining: boolean;
  readonly server: HttpServer | HttpsServer | undefined;
  readonly totalLimits: Totals | undefined;
}

/** Declares {@link ServeOptions} beyond the options of every upgrade. */
export const LISTEN_OPTIONS: Options<Omit<Partial<ListenOptions>, 'totalLimits'> & Pick<ServeOptions, 'totalLimits'>, ListenOptions> = {
  path: [checkPath, undefined],
  healthPath: [checkPath, undefined],
  port: [asGiven, undefined],
  host: [checkHost, undefined],
  tls: [asGiven, undefined],
  listenWhileDraining: [checkBoolean, false],
  server: [checkServer, undefined],
  totalLimits: [totalsOf, undefined],
};

/**
 * Checks where a server listens, and fills in defaults.
 *
 * @throws TypeError naming the option
 */
export function readListenOptions(options: ServeOptions): ListenOptions {
  const resolved = readOptions(LISTEN_OPTIONS, options);
  const { port, server } = resolved;
  // The given server decides these.
  if (server !== undefined) refuseGiven(options, ['port', 'host', 'tls', 'listenWhileDraining'], ' beside server');
  else if (!(Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535))
    throw optionError('port', 'an integer from 0 to 65535, or a server', port);
  return resolved;
}

function checkServer<T extends Partial<HttpServer> | null>(name: string, server: T): T {
  if (typeof server?.on === 'function' && typeof server.address === 'function') {
    // The servers of node:http2. Only one that allows HTTP/1.1 has the time-outs of HTTP/1.1.
    if (!('updateSettings' in server) || 'headersTimeout' in server) return server;
    throw new TypeError(`${name}: expected a server of HTTP/1.1, which WebSockets upgrade: pass allowHTTP1 to createSecureServer`);
  }
  throw optionError(name, 'one of node:http or node:https', server);
}

/** Node would listen on all addresses for a number. */
function checkHost(name: string, host: unknown): string {
  if (typeof host === 'string') return host;
  throw optionError(name, 'a text', host);
}

function checkPath(name: string, path: unknown): string {
  if (typeof path !== 'string' || !path.startsWith('/')) throw optionError(name, "one that begins with '/'", path);
  // No path of a request has one of these, so the server would answer nothing.
  if (/[?#]/.test(path)) throw optionError(name, 'one without a query', path);
  const { pathname } = new URL(`http://localhost${path}`);
  if (pathname !== path) throw optionError(name, `'${pathname}', as requests have it`, path);
  return path;
}

const DECISIVE = ['listening', 'close', errorMonitor] as const;

/** Promises that are still pending. All callers share one, so that each server has one set of listeners. */
const PENDING = new WeakMap<Server, Promise<AddressInfo>>();

/**
 * Resolves with the server's address once it listens, and rejects when it cannot. Then it removes its listeners from the server. A Unix
 * socket has its path as the address, the family `Unix` and the port 0.
 */
export function listening(server: Server): Promise<AddressInfo> {
  const pending = PENDING.get(server) ?? decided(server);
  // A server that listens already has decided, and may listen elsewhere later.
  if (!server.listening) PENDING.set(server, pending);
  return pending;
}

function decided(server: Server): Promise<AddressInfo> {
  const events: EventEmitter = server;
  return new Promise((resolve, reject) => {
    // Some platforms call `listening` with an argument.
    const decide = (error?: Error | null): void => {
      for (const event of DECISIVE) events.off(event, decide);
      PENDING.delete(server);
      const address = server.address();
      if (error != null) reject(error);
      else if (address === null) reject(new Error('expected the server to listen, but it was closed before'));
      else resolve(typeof address === 'string' ? { address, family: 'Unix', port: 0 } : address);
    };
    if (server.listening) decide();
    // Only monitor the error: on a server of the user's it must not count as handled.
    else for (const event of DECISIVE) events.on(event, decide);
  });
}

/** Hosts that stand for all addresses of a machine. */
const EVERY_ADDRESS = new Set(['', '::', '0.0.0.0']);

/**
 * Returns the address of a server for a dialer on the same machine.
 *
 * @param host was given to the server, and may be a name
 * @throws Error unless the server listens on a port
 */
export function urlOf(server: Server, host: string | undefined, path = ''): string {
  const address = server.address();
  if (address === null) throw new Error('url: expected a server that listens, got one that does not: await server.listening first');
  if (typeof address === 'string') throw new Error(`url: expected a server on a port, got one on the Unix socket ${address}`);
  const name = host === undefined || EVERY_ADDRESS.has(host) ? address.address : host;
  const shown = EVERY_ADDRESS.has(name) ? 'localhost' : name.includes(':') ? `[${name}]` : name;
  // The servers of node:https and node:http2 that speak TLS.
  return `${'setSecureContext' in server ? 'wss:' : 'ws:'}//${shown}:${address.port}${path}`;
}

/**
 * Makes Node's error for a taken port one line that says what to do, and returns whether it was one. Its stack would only name files of Node.
 */
export function nameTakenPort(error: NodeJS.ErrnoException, { port, host }: ListenOptions): boolean {
  if (error.code !== 'EADDRINUSE') return false;
  const where = host === undefined ? `port ${port}` : `port ${port} of ${host}`;
  error.message = `expected ${where} to be free, but another program listens there (EADDRINUSE): stop it, or pass another port; 0 takes a free one`;
  error.stack = `Error: ${error.message}`;
  return true;
}

/** Makes an HTTP server that only upgrades. It answers each ordinary request with 426, and with 503 while it drains. */
export function ownServer(tls: TlsOptions | undefined, isDraining: () => boolean) {
  const server = tls === undefined ? createServer() : createTlsServer(checkObject('tls', tls));
  server.on('request', (_request, response) => {
    answerOrdinary(response, isDraining() ? GOING_AWAY : UPGRADE_REQUIRED, { Connection: 'close' });
  });
  const belowTls = new Set<Socket>();
  if (tls !== undefined)
    server.on('connection', (socket: Socket) => {
      belowTls.add(socket);
      socket.once('close', () => belowTls.delete(socket));
    });
  /** Ends the server with its sockets, then calls `ended`. */
  const end = (ended: () => void): void => {
    // Node calls back with an error if the server was closed before.
    server.close(() => {
      ended();
    });
    // Also ends the connections that browsers opened in advance and never used.
    server.closeAllConnections();
    // `closeAllConnections` misses connections whose TLS handshake is still under way.
    for (const socket of belowTls) socket.destroy();
  };
  return { server, end };
}
