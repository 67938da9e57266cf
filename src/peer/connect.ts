import { browserConnectivity } from '../transport/connectivity.js';
import type { SocketLike, Transport } from '../transport/transport.js';
import { W3cTransport } from '../transport/w3c.js';
import { checkBoolean, checkFunction, checkNumber, checkOptions, optionError, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { PeerCore } from './core.js';
import { Backoff } from './dial/backoff.js';
import type { Reconnect } from './dial/backoff.js';
import type { ConnectUrl, DialContext } from './dial/dial.js';
import { Dialer } from './dial/dialer.js';
import { HELLO_TIMEOUT_MS, greetingWith } from './hello.js';
import type { Hello } from './hello.js';
import { PEER_OPTIONS, resolveOptions } from './options.js';
import type { PeerOptions } from './options.js';
import { Peer } from './peer.js';

/** Schemes of addresses: platforms also dial addresses of HTTP pages, and `ws` also dials Unix sockets. */
const DIALABLE = /^(?:wss?|https?|ws\+unix):/;

/**
 * Rejects an address that no platform accepts before the first dial, since every dial would fail. The check does not cover addresses
 * for a socket factory, or addresses that a function will return.
 *
 * @throws TypeError unless `url` is an address or a function
 */
export function checkUrl(url: unknown, hasFactory: boolean): void {
  if (typeof url === 'function') return;
  if (typeof url !== 'string' && !isUrl(url)) throw optionError('url', 'an address, or a function that returns one', url);
  const address = String(url);
  if (!hasFactory && !isDialable(address)) throw optionError('url', 'a ws: or wss: address', address);
}

/** Not `instanceof`: a URL of another realm is no instance of this realm's class. */
function isUrl(value: unknown): value is URL {
  return typeof value === 'object' && value !== null && 'href' in value;
}

function isDialable(address: string): boolean {
  try {
    return DIALABLE.test(new URL(address, pageAddress()).href);
  } catch {
    return false;
  }
}

/** The base of relative addresses. */
function pageAddress(): string | undefined {
  const { document, location }: Page = globalThis;
  return document?.baseURI ?? location?.href;
}

interface Page {
  readonly document?: { readonly baseURI: string };
  readonly location?: { readonly href: string };
}

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

/** The options of a dial that every entry point has. */
export type DialOptions = Pick<ConnectOptions, 'connectTimeoutMs' | 'lazy' | 'idleCloseMs' | 'socket'>;

/** {@link DialOptions}, checked and with defaults. */
export interface ResolvedDial {
  readonly connectTimeoutMs: number;
  readonly lazy: boolean;
  readonly idleCloseMs: number;
  readonly socket: DialOptions['socket'];
}

/** Declares {@link DialOptions}. */
export const DIAL_OPTIONS: Options<DialOptions, ResolvedDial> = {
  connectTimeoutMs: [checkNumber, 10_000],
  lazy: [checkBoolean, false],
  idleCloseMs: [checkNumber, 0],
  socket: [checkFunction, undefined],
};

/** @throws TypeError for a time that only a lazy peer has */
export function checkIdle({ idleCloseMs, lazy }: ResolvedDial): void {
  if (idleCloseMs > 0 && !lazy) throw new TypeError('idleCloseMs: expected lazy: true beside it, got none');
}

/** This platform has no WebSocket, so the next dial would fail too. */
export class NoWebSocketError extends TypeError {
  constructor() {
    super("expected a platform with a WebSocket, got none: use connect of 'rxmux/node', or pass the option socket");
  }
}

/** The socket of the platform. */
export function platformSocket(address: string, protocol: string): SocketLike {
  if (typeof WebSocket === 'function') return new WebSocket(address, protocol);
  throw new NoWebSocketError();
}

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

const LOOPBACK = /^[a-z+]+:\/\/(?:[^/?#@]*@)?(?:(?:[^/?#:@]+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/?#]|$)/i;
const CREDENTIALS = /^([a-z+]+:\/\/)[^/?#]*@/i;
const QUERY_OR_FRAGMENT = /[?#].*$/s;

/** An address for errors and log lines. It omits credentials, query and fragment, which may hold tokens. */
export function shownAddress(address: string): string {
  return address.replace(QUERY_OR_FRAGMENT, '').replace(CREDENTIALS, '$1');
}

/** Whether an address names this machine, and so needs no network. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address);
}
