import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import { checkBoolean, optionError } from '../wire/check.js';
import { asGiven, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { totalsOf } from './total-limits.js';
import type { Totals } from './total-limits.js';
import type { ServeOptions } from './mux-server.js';

/** {@link ServeOptions} beyond the options of every upgrade, checked and with defaults. */
export interface ListenOptions {
  readonly path: string | undefined;
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
  if (server !== undefined) refuseBeside(options);
  else if (!(Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535))
    throw optionError('port', 'an integer from 0 to 65535, or a server', port);
  return resolved;
}

/** @throws TypeError for an option that a given server decides, which would have no effect */
function refuseBeside(options: object): void {
  for (const name of ['port', 'host', 'tls', 'listenWhileDraining']) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) throw optionError(name, 'none beside server', value);
  }
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
  return path;
}
