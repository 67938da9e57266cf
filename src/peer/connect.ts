import { browserConnectivity } from '../transport/connectivity.js';
import type { SocketLike, Transport } from '../transport/transport.js';
import { W3cTransport } from '../transport/w3c.js';
import { checkBoolean, checkFunction, checkNumber, checkOptions, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { PeerCore } from './core.js';
import { checkAddress, checkUrl, platformSocket } from './dial/address.js';
import { Backoff } from './dial/backoff.js';
import type { Reconnect } from './dial/backoff.js';
import { Dialer } from './dial/dialer.js';
import type { ConnectUrl, DialContext, DialPlan } from './dial/dialer.js';
import { HELLO_TIMEOUT_MS } from './hello.js';
import type { Hello } from './hello.js';
import { PEER_OPTIONS, resolveOptions } from './options.js';
import type { PeerOptions } from './options.js';
import { Peer } from './peer.js';

/** Options of `connect`. */
export interface ConnectOptions extends PeerOptions {
  /** Dials again when the socket is lost or the server goes away; an object changes how. Default `false`. */
  readonly reconnect?: boolean | Reconnect | undefined;
  /** Makes the first stream of every socket, for tokens and resume cursors; other calls wait for its reply. Default none. */
  readonly hello?: ((context: DialContext) => Hello | Promise<Hello>) | undefined;
  /** How long the socket may take to open, in ms; 0 is no limit. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long the `hello` and its reply may take together, in ms; 0 is no limit. Default 10 000. */
  readonly helloTimeoutMs?: number | undefined;
  /** Dials on the first call instead of at once. The status is `connecting` until then. Default `false`. */
  readonly lazy?: boolean | undefined;
  /**
   * Closes the socket of a `lazy` peer once no stream has been open for so long, in ms; 0 never does. A fresh hello does not count. The
   * peer stays `connecting`, and its next call dials. Default 0.
   */
  readonly idleCloseMs?: number | undefined;
  /** Makes the socket. Default `new WebSocket(url, protocol)` of the platform, or a socket of `ws` in Node. */
  readonly socket?: ((url: string, protocol: string) => SocketLike) | undefined;
}

/** {@link ConnectOptions} beyond {@link PeerOptions}, checked and with defaults. */
interface ResolvedConnect extends Pick<DialPlan, 'hello' | 'helloTimeoutMs' | 'connectTimeoutMs' | 'lazy' | 'idleCloseMs'> {
  readonly reconnect: Backoff | null;
  readonly socket: ConnectOptions['socket'];
}

/** Declares {@link ConnectOptions} beyond {@link PeerOptions}. */
export const CONNECT_OPTIONS: Options<Omit<ConnectOptions, keyof PeerOptions>, ResolvedConnect> = {
  reconnect: [(_name, given) => (given === false ? null : new Backoff(given === true ? {} : given)), null],
  hello: [checkFunction, undefined],
  helloTimeoutMs: [checkNumber, HELLO_TIMEOUT_MS],
  connectTimeoutMs: [checkNumber, 10_000],
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
  checkOptions(options, CONNECT_OPTIONS, PEER_OPTIONS);
  const { socket = platformSocket } = options;
  return connectOver(url, options, (address, protocol) => new W3cTransport(socket(address, protocol)));
}

/** {@link connect} over any transport, once the names of the options are checked. */
export function connectOver(
  url: ConnectUrl,
  options: ConnectOptions,
  open: (url: string, protocol: string, maxMessageBytes: number) => Transport,
): Peer {
  checkUrl(url, options.socket !== undefined);
  const { reconnect, socket, ...plan } = readOptions(CONNECT_OPTIONS, options);
  if (plan.idleCloseMs > 0 && !plan.lazy) throw new TypeError('idleCloseMs: expected lazy: true beside it, got none');
  if (plan.hello === undefined && options.helloTimeoutMs !== undefined)
    throw new TypeError('helloTimeoutMs: expected hello beside it, got none');
  const core = new PeerCore(resolveOptions(options, true));
  const dialer = new Dialer(core, {
    ...plan,
    url,
    open: (address, protocol) => {
      if (typeof url === 'function' && socket === undefined) checkAddress(address);
      return open(address, protocol, core.options.limits.maxMessageBytes);
    },
    backoff: reconnect,
    connectivity: browserConnectivity(),
  });
  const peer = new Peer(core, dialer, core.options.onStream);
  dialer.start();
  return peer;
}
