import type { Observable } from 'rxjs';
import { SEND_NAMES } from '../../stream/sending.js';
import type { StreamCore } from '../../stream/stream-core.js';
import { LeanStream } from '../../stream/stream.js';
import { browserConnectivity } from '../../transport/connectivity.js';
import { W3cTransport } from '../../transport/w3c.js';
import { checkFunction, checkNumber, checkOptions, optionError, readObject, readOptions } from '../../util/check.js';
import type { NamesOf, Options } from '../../util/check.js';
import type { MetadataInput } from '../../wire/frame.js';
import { Calls, STREAM_NAMES } from '../calls.js';
import type { OpenOptions } from '../calls.js';
import { DIAL_OPTIONS, checkIdle } from '../dial/dialer.js';
import { checkUrl, platformSocket } from '../dial/address.js';
import type { DialOptions, ResolvedDial } from '../dial/dialer.js';
import { PeerCore } from '../core.js';
import type { SocketSource } from '../core.js';
import { Backoff } from '../dial/backoff.js';
import type { Reconnect } from '../dial/backoff.js';
import type { ConnectUrl, Greeting } from '../dial/dial.js';
import { Dialer } from '../dial/dialer.js';
import { HELLO_TIMEOUT_MS, greetingWith } from '../hello.js';
import type { MakeHello } from '../hello.js';
import { resolveOptions } from '../options.js';
import type { PeerOptions } from '../options.js';
import { PeerBase } from '../peer-base.js';

/** Options of every call of a lean peer. */
export interface LeanOptions<In = unknown> extends Pick<OpenOptions, 'headers' | 'signal' | 'timeoutMs'> {
  /** Receives the stream of a call that does not return it, as in `OpenOptions` of `rxmux`. Default none. */
  readonly onOpen?: ((stream: LeanStream<In>) => void) | undefined;
}

/**
 * A peer that makes calls, and refuses the streams of its remote. Functions of `rxmux/lean`, such as `onStream`, `sendAll` and `onClose`, do
 * the rest. A page carries only the functions that it imports.
 *
 * Each method works as the method of the same name of a peer of `rxmux`.
 *
 * @example
 * ```ts
 * const peer = connect('wss://example.org/mux', { reconnect: reconnect() });
 * await peer.request({ op: 'sum', of: [1, 2, 3] });   // 6
 * ```
 */
export class LeanPeer extends PeerBase {
  readonly #calls: Calls;

  /** @internal */
  constructor(core: PeerCore, source: SocketSource) {
    super(core, source, makeStream);
    this.#calls = new Calls(core);
  }

  /** @internal The calls of a peer, for functions that open streams in another way. */
  static calls(peer: LeanPeer): Calls {
    return peer.#calls;
  }

  /** Sends a request and resolves with the answer: the first payload that comes back, or `null` for an end without a payload (S11). */
  request<R = unknown>(payload?: unknown, options: LeanOptions<R> = {}): Promise<R> {
    return this.#calls.request(payload, options as OpenOptions) as Promise<R>;
  }

  /** {@link request} as a cold Observable. Each subscription sends a request, and unsubscribing before the answer cancels it. */
  request$<R = unknown>(payload?: unknown, options: LeanOptions<R> = {}): Observable<R> {
    return this.#calls.request$(payload, options as OpenOptions) as Observable<R>;
  }

  /**
   * Opens a stream at once. The functions `send`, `sendAll`, `reply` and `end` send on it.
   *
   * @param options `end: true` if the call sends only the payload
   */
  open<In = unknown>(payload?: unknown, options: LeanOptions<In> & { readonly end?: boolean | undefined } = {}): LeanStream<In> {
    checkOptions(options, STREAM_NAMES);
    return this.#calls.open(payload, options.end === true ? 'end' : 'continue', options as OpenOptions).facade as LeanStream<In>;
  }

  /** Opens a stream for each subscription. Unsubscribing resets it with CANCEL. `openWith` also sends an input. */
  open$<In = unknown>(payload?: unknown, options: LeanOptions<In> = {}): Observable<In> {
    return this.#calls.open$(payload, options as OpenOptions) as Observable<In>;
  }

  /** Sends one payload without waiting for anything: answers are dropped (S11). */
  notify(payload?: unknown, options: { readonly headers?: MetadataInput | undefined } = {}): void {
    checkOptions(options, SEND_NAMES);
    this.#calls.open(payload, 'notify', options);
  }
}

function makeStream(stream: StreamCore): LeanStream {
  return LeanStream.around(stream);
}

/** Makes a peer dial again. {@link reconnect} returns it. */
export interface Reconnecting {
  /** @internal Each peer counts its own failures. */
  readonly backoff: () => Backoff;
}

/** Makes a peer send the first stream of every socket. {@link hello} returns it. */
export interface Greets {
  /** @internal */
  readonly greeting: Greeting;
}

/** Options of `connect` of `rxmux/lean`. */
export interface LeanConnectOptions
  extends DialOptions, Pick<PeerOptions, 'codec' | 'context' | 'keepalive' | 'label' | 'limits' | 'requestTimeoutMs'> {
  /** Dials again when the socket is lost or the server goes away. Default none: the peer closes. */
  readonly reconnect?: Reconnecting | undefined;
  /** Makes the first stream of every socket; other calls wait for its reply. Default none. */
  readonly hello?: Greets | undefined;
}

/** {@link LeanConnectOptions} beyond the options of every peer, checked and with defaults. */
interface ResolvedLean extends ResolvedDial {
  readonly reconnect: Reconnecting | null;
  readonly hello: Greets | null;
}

/** Declares {@link LeanConnectOptions} beyond the options of every peer. */
const LEAN_OPTIONS: Options<Pick<LeanConnectOptions, keyof ResolvedLean>, ResolvedLean> = {
  reconnect: [(name, given) => made(name, given, 'backoff'), null],
  hello: [(name, given) => made(name, given, 'greeting'), null],
  ...DIAL_OPTIONS,
};

/** The options of every peer that a lean one has. */
const OF_PEERS: NamesOf<Omit<LeanConnectOptions, keyof ResolvedLean>> = {
  codec: true,
  context: true,
  keepalive: true,
  label: true,
  limits: true,
  requestTimeoutMs: true,
};

/** Declares the options of {@link hello}. */
const HELLO_OPTIONS: Options<{ readonly timeoutMs?: number | undefined }, { readonly timeoutMs: number }> = {
  timeoutMs: [checkNumber, HELLO_TIMEOUT_MS],
};

/**
 * Dials a server over the platform's WebSocket, and returns the peer at once, as `connect` of `rxmux` does.
 *
 * @param url a `ws:` or `wss:` address, relative to the page if there is one; or a function that returns the address for each dial
 * @throws CodecNotRegistered when the options name no codec and the configured one is not registered; TypeError for a bad option, and
 *   for an address that cannot be dialed
 *
 * @example
 * ```ts
 * const peer = connect('wss://example.org/mux', { reconnect: reconnect({ maxDelayMs: 10_000 }) });
 * peer.open$({ op: 'prices' }).subscribe(console.log);
 * ```
 */
export function connect(url: ConnectUrl, options: LeanConnectOptions = {}): LeanPeer {
  checkOptions(options, LEAN_OPTIONS, OF_PEERS);
  checkUrl(url, options.socket !== undefined);
  const used = readOptions(LEAN_OPTIONS, options);
  const { socket = platformSocket, reconnect: reconnecting, hello: greets, connectTimeoutMs, lazy, idleCloseMs } = used;
  checkIdle(used);
  const core = new PeerCore(resolveOptions(options, true));
  const dialer = new Dialer(core, {
    url,
    open: (address, protocol) => new W3cTransport(socket(address, protocol)),
    backoff: reconnecting?.backoff() ?? null,
    greeting: greets?.greeting ?? null,
    connectTimeoutMs,
    lazy,
    idleCloseMs,
    connectivity: browserConnectivity(),
  });
  const peer = new LeanPeer(core, dialer);
  dialer.start();
  return peer;
}

/**
 * Returns the option `reconnect` of {@link connect}: the peer dials again when the socket is lost or the server goes away.
 *
 * @throws TypeError for a bad option
 *
 * @example
 * ```ts
 * connect('wss://example.org/mux', { reconnect: reconnect({ maxAttempts: 8 }) });
 * ```
 */
export function reconnect(options: Reconnect = {}): Reconnecting {
  const backoff = (): Backoff => new Backoff(options);
  // A bad option fails here, and not at the dial.
  backoff();
  return { backoff };
}

/**
 * Returns the option `hello` of {@link connect}: the peer sends the first stream of every socket, for tokens and resume cursors (C11).
 *
 * @param options `timeoutMs`: how long the hello and its reply may take together, in ms; 0 is no limit. Default 10 000.
 * @throws TypeError for a bad option
 *
 * @example
 * ```ts
 * connect('wss://example.org/mux', { hello: hello(() => ({ payload: { token }, onReply: (user) => console.log(user) })) });
 * // { name: 'ann' }
 * ```
 */
export function hello(make: MakeHello, options: { readonly timeoutMs?: number | undefined } = {}): Greets {
  const { timeoutMs } = readObject('hello', options, HELLO_OPTIONS, '{ timeoutMs }');
  checkFunction('hello', make);
  return { greeting: greetingWith(make, timeoutMs) };
}

/** @throws TypeError unless a function of this entry point has made the option */
function made<T extends object>(name: string, given: T, part: keyof T): T {
  if (typeof given === 'object' && (given as unknown) !== null && part in given) return given;
  throw optionError(name, `the result of ${name}()`, given);
}
