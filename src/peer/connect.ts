import { browserConnectivity } from '../transport/connectivity.js';
import type { Transport } from '../transport/transport.js';
import { W3cTransport } from '../transport/w3c.js';
import { checkOptions, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { checkFunction, checkNumber } from '../wire/check.js';
import { PeerCore } from './core.js';
import { Backoff } from './dial/backoff.js';
import { checkUrl } from './dial/check-url.js';
import { DIAL_OPTIONS, checkIdle } from './dial/connect-options.js';
import type { ConnectOptions, ResolvedDial } from './dial/connect-options.js';
import type { ConnectUrl } from './dial/dial-plan.js';
import { Dialer } from './dial/dialer.js';
import { platformSocket } from './dial/platform-socket.js';
import { HELLO_TIMEOUT_MS, greetingWith } from './hello.js';
import { PEER_OPTIONS, resolveOptions } from './options.js';
import type { PeerOptions } from './options.js';
import { Peer } from './peer.js';

/** {@link ConnectOptions} beyond {@link PeerOptions}, checked and with defaults. */
interface ResolvedConnect extends ResolvedDial {
  readonly reconnect: Backoff | null;
  readonly hello: ConnectOptions['hello'];
  readonly helloTimeoutMs: number;
}

const { connectTimeoutMs, ...otherDialOptions } = DIAL_OPTIONS;

/** Declares {@link ConnectOptions} beyond {@link PeerOptions}. */
export const CONNECT_OPTIONS: Options<Omit<ConnectOptions, keyof PeerOptions>, ResolvedConnect> = {
  reconnect: [(_name, given) => (given === false ? null : new Backoff(given === true ? {} : given)), null],
  hello: [checkFunction, undefined],
  connectTimeoutMs,
  helloTimeoutMs: [checkNumber, HELLO_TIMEOUT_MS],
  ...otherDialOptions,
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

/** {@link connect} over any transport. */
export function connectOver(url: ConnectUrl, options: ConnectOptions, open: (url: string, protocol: string) => Transport): Peer {
  checkUrl(url, options.socket !== undefined);
  const used = readOptions(CONNECT_OPTIONS, options);
  const { reconnect: backoff, hello, helloTimeoutMs, connectTimeoutMs, lazy, idleCloseMs } = used;
  checkIdle(used);
  const greeting = hello === undefined ? null : greetingWith(hello, helloTimeoutMs);
  const core = new PeerCore(resolveOptions(options, true));
  const dialer = new Dialer(core, {
    url,
    open,
    backoff,
    greeting,
    connectTimeoutMs,
    lazy,
    idleCloseMs,
    connectivity: browserConnectivity(),
  });
  const peer = new Peer(core, dialer, core.options.onStream);
  dialer.start();
  return peer;
}
