import { browserConnectivity } from '../transport/connectivity.js';
import type { SocketLike } from '../transport/socket-like.js';
import type { Transport } from '../transport/transport.js';
import { W3cTransport } from '../transport/w3c.js';
import { checkBoolean, checkFunction, checkNumber, checkObject } from '../wire/check.js';
import { readOptions } from '../wire/options.js';
import type { Options } from '../wire/options.js';
import type { DialContext } from './dial/attempt.js';
import { Backoff } from './dial/backoff.js';
import { checkUrl } from './dial/check-url.js';
import { NoWebSocketError } from './dial/connect-error.js';
import { Dialer } from './dial/dialer.js';
import type { ConnectUrl } from './dial/dial-plan.js';
import { HELLO_TIMEOUT_MS } from './dial/hello.js';
import type { Hello } from './dial/hello.js';
import type { Reconnect } from './dial/reconnect-options.js';
import { resolveOptions } from './base/options.js';
import type { PeerOptions } from './base/options.js';
import { PeerCore } from './core/peer-core.js';
import { Peer } from './peer.js';

/** Options of `connect`. */
export interface ConnectOptions extends PeerOptions {
  /** Dials again when the socket is lost or the server goes away; an object changes how. Default `false`. */
  readonly reconnect?: boolean | Reconnect | undefined;
  /** Makes the first stream of every socket, for tokens and resume cursors; other calls wait for its reply. Default none. */
  readonly hello?: ((context: DialContext) => Hello | Promise<Hello>) | undefined;
  /** How long the socket may take to open, in ms; 0 is no limit. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long the hello and its reply may take together, in ms; 0 is no limit. Default 10 000. */
  readonly helloTimeoutMs?: number | undefined;
  /** Dials on the first call instead of at once. The status is `connecting` until then. Default `false`. */
  readonly lazy?: boolean | undefined;
  /**
   * Closes the socket of a `lazy` peer once no stream has been open for so long, in ms; 0 never does. The peer stays `connecting`, and its
   * next call dials. Default 0.
   */
  readonly idleCloseMs?: number | undefined;
  /** Makes the socket. Default `new WebSocket(url, protocol)` of the platform, or a socket of `ws` in Node. */
  readonly socket?: ((url: string, protocol: string) => SocketLike) | undefined;
}

/** {@link ConnectOptions} beyond {@link PeerOptions}, checked and with defaults. */
interface ResolvedConnect {
  readonly reconnect: Backoff | null;
  readonly hello: ConnectOptions['hello'];
  readonly connectTimeoutMs: number;
  readonly helloTimeoutMs: number;
  readonly lazy: boolean;
  readonly idleCloseMs: number;
  readonly socket: ConnectOptions['socket'];
}

/** Declares {@link ConnectOptions} beyond {@link PeerOptions}. */
export const CONNECT_OPTIONS: Options<Omit<ConnectOptions, keyof PeerOptions>, ResolvedConnect> = {
  reconnect: [(_name, given) => (given === false ? null : new Backoff(given === true ? {} : given)), null],
  hello: [checkFunction, undefined],
  connectTimeoutMs: [checkNumber, 10_000],
  helloTimeoutMs: [checkNumber, HELLO_TIMEOUT_MS],
  lazy: [checkBoolean, false],
  idleCloseMs: [checkNumber, 0],
  socket: [checkFunction, undefined],
};

/**
 * Dials a server over the platform's WebSocket, and returns the peer at once. You can thus add handlers and interceptors before the
 * first byte arrives; calls made while connecting wait.
 *
 * @param url a `ws:` or `wss:` address, relative to the page if there is one; or a function that returns the address for each dial
 * @throws CodecNotRegistered when the options name no codec and the configured one is not registered; TypeError for a bad option, and
 *   for an address that cannot be dialed
 *
 * @example
 * ```ts
 * const peer = connect('wss://example.org/mux', { reconnect: true });
 * peer.request$({ op: 'prices' }).subscribe(console.log);
 * ```
 */
export function connect(url: ConnectUrl, options: ConnectOptions = {}): Peer {
  checkObject('options', options);
  const { socket = platformSocket } = options;
  return connectOver(url, options, (address, protocol) => new W3cTransport(socket(address, protocol)));
}

function platformSocket(address: string, protocol: string): SocketLike {
  if (typeof WebSocket === 'function') return new WebSocket(address, protocol);
  throw new NoWebSocketError();
}

/** An address for the log. It omits credentials and query, which may hold tokens. It is empty unless the address is absolute. */
function shownAddress(address: string): string {
  try {
    const { protocol, host, pathname } = new URL(address);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return '';
  }
}

/** {@link connect} over any transport. */
export function connectOver(url: ConnectUrl, options: ConnectOptions, open: (url: string, protocol: string) => Transport): Peer {
  checkUrl(url, options.socket !== undefined);
  const { reconnect, hello, connectTimeoutMs, helloTimeoutMs, lazy, idleCloseMs } = readOptions(CONNECT_OPTIONS, options);
  if (idleCloseMs > 0 && !lazy) throw new TypeError('idleCloseMs: expected lazy: true beside it, got none');
  const core = new PeerCore(resolveOptions(options, true));
  if (typeof url !== 'function') core.setRemote(shownAddress(String(url)));
  const dialer = new Dialer(core, {
    url,
    open: (address, protocol) => {
      core.setRemote(shownAddress(address));
      return open(address, protocol);
    },
    backoff: reconnect,
    hello,
    connectTimeoutMs,
    helloTimeoutMs,
    lazy,
    idleCloseMs,
    connectivity: browserConnectivity(),
  });
  const peer = new Peer(core, dialer, core.options.onStream);
  dialer.start();
  return peer;
}
