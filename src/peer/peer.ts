import type { Observable } from 'rxjs';
import type { SocketLike } from '../transport/socket-like.js';
import { W3cTransport } from '../transport/w3c.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { Codec } from '../wire/codec.js';
import type { Frame, FrameDirection, MetadataInput } from '../wire/frame.js';
import { checkObject } from '../wire/check.js';
import { asyncDispose } from './base/async-dispose.js';
import { Calls } from './calls/calls.js';
import type { InputOptions, OpenOptions } from './calls/calls.js';
import { resolveClose } from './base/close-options.js';
import type { CloseOptions } from './base/close-options.js';
import { GivenSocket } from './dial/given-socket.js';
import { unheeded } from './base/caller-frames.js';
import { addHook } from './base/hooks.js';
import type {
  CloseHandler,
  ErrorHandler,
  FrameObserver,
  HandlerFailure,
  IncomingHeadersInterceptor,
  OpenInterceptor,
  Remove,
  ReplyHeadersInterceptor,
  StreamHandler,
} from './base/hooks.js';
import { resolveOptions } from './base/options.js';
import type { PeerContext, PeerOptions } from './base/options.js';
import { PeerCore } from './core/peer-core.js';
import { ping } from './calls/ping.js';
import type { SocketSource } from './core/socket-source.js';
import type { PeerStatus } from './base/status.js';
import type { Stream } from './stream/stream.js';

/** A frame as an observer sees it, with the peer and the number of the socket it went over: 1, 2, … */
export interface FrameEvent<F extends Frame = Frame> {
  /** `tx`: the peer sends it; `rx`: the peer has received it. */
  readonly direction: FrameDirection;
  /** As it is on the wire: of a payload that was cut, each fragment is a frame of its own. */
  readonly frame: F;
  /** Who sends or has received it. */
  readonly peer: Peer;
  /** Counts the sockets of this peer that have opened, from 1; a stream id means something together with it only. */
  readonly connection: number;
  /** When it was encoded or received, in ms on a clock that only goes forward. Only times of one program compare. */
  readonly at: number;
  /** The length of its message: UTF-8 bytes under `json`. */
  readonly bytes: number;
}

/** What a peer over a socket of your own can be given. */
export interface NewPeerOptions extends PeerOptions {
  /** Whether this side dialed: the dialer's stream ids are odd (S1). */
  readonly isDialer: boolean;
}

/**
 * One side of a connection: it opens streams, answers those of the other side, and tells what happens.
 *
 * `connect()` gives one that dials; `serve()`, `handleUpgrade()` and `accept()` give those that were dialed.
 *
 * @example
 * ```ts
 * const peer = connect('wss://example.org/mux');
 * await peer.request({ op: 'sum', of: [1, 2, 3] });   // 6
 * ```
 */
export class Peer {
  readonly #core: PeerCore;
  readonly #calls: Calls;

  /**
   * A peer over a socket of your own, which reads nothing before {@link serve}.
   *
   * @throws CodecNotRegistered, and TypeError for a bad option
   *
   * @example
   * ```ts
   * const peer = new Peer(new WebSocket('wss://example.org/mux', 'mux.v1.json'), { isDialer: true });
   * void peer.serve();
   * await peer.request({ op: 'sum', of: [1, 2, 3] });   // 6
   * ```
   */
  constructor(socket: SocketLike, options: NewPeerOptions);
  /** @internal */
  constructor(core: PeerCore, source: SocketSource, onStream?: StreamHandler);
  constructor(socket: SocketLike | PeerCore, given: NewPeerOptions | SocketSource, onStream?: StreamHandler) {
    let handler = onStream;
    if (socket instanceof PeerCore) {
      this.#core = socket;
      this.#core.belongTo(this, given as SocketSource);
    } else {
      const options = given as NewPeerOptions;
      checkObject('options', options);
      this.#core = new PeerCore(resolveOptions(options, options.isDialer));
      this.#core.belongTo(this, new GivenSocket(this.#core, new W3cTransport(socket)));
      handler = options.onStream;
    }
    if (handler !== undefined) this.onStream(handler);
    this.#calls = new Calls(this.#core);
  }

  /** @internal `null` for a peer of another copy of the package. */
  static core(peer: Peer): PeerCore | null {
    return #core in peer ? peer.#core : null;
  }

  /**
   * Whether this side dialed: streams that it opens have odd ids, those of the remote even ones (S1).
   *
   * @example
   * ```ts
   * connect('wss://example.org/mux').isDialer;   // true
   * ```
   */
  get isDialer(): boolean {
    return this.#core.options.isDialer;
  }

  /**
   * The codec of every message, in both directions (V5): the option `codec`, else what was registered under `settings.codec`
   * when the peer was made.
   *
   * @example
   * ```ts
   * connect('wss://example.org/mux').codec.name;   // 'json'
   * ```
   */
  get codec(): Codec {
    return this.#core.codec;
  }

  /**
   * What the acceptor's `verify` found out, or what the option `context` gave. On a peer of `handleUpgrade` that of the options until
   * `verify` has decided.
   */
  get context(): PeerContext {
    return this.#core.context;
  }

  /**
   * Where the connection is now.
   *
   * @example
   * ```ts
   * await peer.opened;
   * peer.status;   // { state: 'open', reconnects: 0 }
   * ```
   */
  get status(): PeerStatus {
    return this.#core.status.now;
  }

  /** {@link status} now, which every subscriber is told first, and at each change; completes after `closed`. */
  get status$(): Observable<PeerStatus> {
    return this.#core.status.status$;
  }

  /**
   * Bytes of payload that this side was given to send and no socket has passed on to the system: those that wait for a connection, for
   * their turn, and in the socket, where envelopes count too. As that of a WebSocket, it is for whoever pushes without waiting for
   * anything, as with `notify`: nothing else holds that up (RELIABILITY.md).
   *
   * @example
   * ```ts
   * for (const peer of server.peers) if (peer.bufferedAmount < 1_000_000) peer.notify(price);
   * peer.bufferedAmount;   // 0 for one that reads
   * ```
   */
  get bufferedAmount(): number {
    return this.#core.bufferedAmount;
  }

  /**
   * Resolves with this peer once the socket is open and the hello was answered; a socket whose remote goes away during the hello
   * counts as none. Rejects when that fails for good: with the error of the status `closed`, or with a ConnectionLostError where
   * it has none; the rejection need not be handled. It does not make a `lazy` peer dial. Each read gives a new promise about the time
   * from then on: read after a lost socket, it waits for the next.
   *
   * @example
   * ```ts
   * const peer = await connect('wss://example.org/mux', { reconnect: true }).opened;
   * peer.status.state;   // 'open'
   * ```
   */
  get opened(): Promise<Peer> {
    return unheeded((resolve, fail) => {
      this.#core.status.whenOpened(() => {
        resolve(this);
      }, fail);
    });
  }

  /** Resolves with the reason of the last socket once nothing comes any more; never rejects. Always the same promise. */
  get closed(): Promise<CloseReason> {
    return this.#core.status.closed;
  }

  /**
   * Every stream that the remote opens, as it comes, over each socket; completes when the peer has ended. It is hot: every subscriber
   * is shown the same stream, in the order of their subscriptions, and none that came before. Whoever reads one, sends on it or resets
   * it at once has taken it; what nobody takes goes to the {@link onStream} handler.
   *
   * @example
   * ```ts
   * peer.streams$.pipe(respond((word: string) => from(word))).subscribe();
   * // at the remote: peer.open$('abc') emits 'a', 'b' and 'c'
   * ```
   */
  get streams$(): Observable<Stream> {
    return this.#core.incoming.streams$;
  }

  /**
   * Every frame from the subscription on, with its time and size, over each socket; completes when the peer has ended. A frame that is
   * sent comes once it is encoded, so one that cannot be encoded is seen by {@link onFrame} alone.
   *
   * @example
   * ```ts
   * peer.frames$.subscribe(({ direction, frame, bytes }) => console.log(direction, frame.type, bytes));
   * await peer.request({ op: 'sum', of: [1, 2] });
   * // tx open 65
   * // rx data 46
   * ```
   */
  get frames$(): Observable<FrameEvent> {
    return this.#core.frames$;
  }

  /** Each error that {@link onError} gets from the subscription on; completes when the peer has ended. */
  get errors$(): Observable<HandlerFailure> {
    return this.#core.errors$;
  }

  /** Why each socket ended from the subscription on, as {@link onClose} is told; completes after the last. */
  get closes$(): Observable<CloseReason> {
    return this.#core.closes$;
  }

  /**
   * Asks, and gives the answer: the first payload that comes back, or `null` for an end without one (S11).
   *
   * The answer ends nothing on the other side: a producer that goes on is cancelled at its second payload (S11), or when
   * `timeoutMs` is over. For one that has more to send, `open$().pipe(take(1))` cancels at the first.
   *
   * Always rejects rather than throws: with what an interceptor or `onOpen` threw, TypeError for a bad option and for a payload
   * or headers the codec cannot represent, and every `AnyMuxError`.
   *
   * @example
   * ```ts
   * await peer.request({ op: 'sum', of: [1, 2] }, { timeoutMs: 1_000 });   // 3
   * ```
   */
  request<R = unknown>(payload?: unknown, options: OpenOptions<R, never> = {}): Promise<R> {
    return this.#calls.request(payload, options as OpenOptions) as Promise<R>;
  }

  /**
   * {@link request} as a cold Observable: each subscription asks anew, and unsubscribing before the answer cancels. What goes on
   * after the answer is cancelled as {@link request} says. Errors with what the promise rejects with, on a later turn where the call
   * fails at once.
   *
   * @throws TypeError for an invalid `retry`
   *
   * @example
   * ```ts
   * peer.request$<number>({ op: 'sum', of: [1, 2] }, { retry: 'safe' }).subscribe(console.log);
   * // 3
   * ```
   */
  request$<R = unknown>(payload?: unknown, options: OpenOptions<R, never> = {}): Observable<R> {
    return this.#calls.request$(payload, options as OpenOptions) as Observable<R>;
  }

  /**
   * Opens a stream at once; while connecting, it waits for the connection. Where this peer opens no more, the stream that is
   * given has been REFUSED.
   *
   * @param options `end: true` when nothing but the payload is sent
   * @throws what an open interceptor or `onOpen` throws, TypeError for a bad option and for a payload or headers the codec cannot
   *   represent, ProtocolError for headers that do not fit a message, QueueOverflowError when too much waits for a connection
   *   (`maxQueuedBytes`), StreamIdsExhaustedError when the ids have run out and no other socket is dialed (S1)
   *
   * @example
   * ```ts
   * const stream = peer.open<number, string>({ op: 'count letters' });
   * void stream.sendAll(['a', 'bc']);
   * await firstValueFrom(stream);   // 3
   * ```
   */
  open<In = unknown, Out = unknown>(
    payload?: unknown,
    options: OpenOptions<In, Out> & { readonly end?: boolean | undefined } = {},
  ): Stream<In, Out> {
    checkObject('options', options);
    return this.#calls.open(payload, options.end === true ? 'end' : 'continue', options as OpenOptions).facade as Stream<In, Out>;
  }

  /**
   * Opens a stream for each subscription. Without `input` the open carries the end; with it, its values are sent as data and
   * its completion is the end. Completes when the remote has ended and the input is done; unsubscribing resets with CANCEL.
   * Errors with what {@link open} throws, and with what ended the stream or the input; for an input that fails with `undefined` or
   * `null`, with the ResetError that the remote is told. A call that fails at once errors on a later turn.
   *
   * @throws TypeError for an unknown `overflow`, for an invalid `retry`, and for one beside an input that gives its
   *   values once
   *
   * @example
   * ```ts
   * peer.open$<number>({ op: 'ticks' }).pipe(take(2)).subscribe(console.log);
   * // 0
   * // 1
   * ```
   */
  open$<In = unknown, Out = unknown>(payload?: unknown, options: OpenOptions<In, Out> & InputOptions<Out> = {}): Observable<In> {
    return this.#calls.open$(payload, options as OpenOptions & InputOptions) as Observable<In>;
  }

  /**
   * Sends one payload and forgets it: whatever comes back is dropped (S11), and nothing tells whether it has arrived.
   *
   * @throws as {@link open} does
   *
   * @example
   * ```ts
   * peer.notify({ op: 'seen', id: 7 });
   * // sends {"type":"open","stream":1,"end":true,"payload":{"op":"seen","id":7}}
   * ```
   */
  notify(payload?: unknown, options: { readonly headers?: MetadataInput | undefined } = {}): void {
    checkObject('options', options);
    this.#calls.open(payload, 'notify', options);
  }

  /**
   * Measures the round trip of a ping (C1), in ms; while connecting it waits for the connection, which is not counted. Rejects
   * with a ConnectionLostError when the socket ends first, and as {@link opened} does when there will be none; the rejection need
   * not be handled.
   *
   * A peer sends at most 500 such pings at once and 16 each second, so that the remote takes them for no flood. Calls beyond that share the
   * next ping.
   *
   * @example
   * ```ts
   * await peer.ping();   // 23
   * ```
   */
  ping(): Promise<number> {
    return ping(this.#core);
  }

  /**
   * Ends the connection in good order (C8): goaway, what was accepted is written out, live streams get `drainMs`, the rest is
   * reset with CANCEL, and the WebSocket closes with 1000 once the remote has read everything, over lines of 8 kB/s too. The socket
   * is terminated when nothing moves for 2 s and no pong is still due (C2a). A second call can only shorten; code and reason stay
   * those of the first.
   *
   * Without a connection there is nothing to write to: calls that wait for one fail, and a `notify` that waits is dropped
   * with a warning. `await peer.opened` first where it must arrive.
   *
   * @returns the same promise as {@link closed}: it resolves with the reason of the last socket, and never rejects
   * @throws TypeError for a `drainMs` that is not a non-negative number, a code that is not an integer and a reason that is not a string;
   *   nothing is closed then
   *
   * @example
   * ```ts
   * await peer.close({ drainMs: 5_000 });   // { code: 1000, reason: '', wasClean: true, willRetry: false }
   * ```
   */
  close(options: CloseOptions = {}): Promise<CloseReason> {
    this.#core.close(resolveClose(options));
    return this.closed;
  }

  /**
   * Calls {@link close} at the end of an `await using` block and waits for it. `drainMs` is 0 then: what must end before waits in the block.
   *
   * @example
   * ```ts
   * await using peer = connect('wss://example.org/mux');
   * await peer.request({ op: 'sum', of: [1, 2] });   // 3; the peer closes where the block ends
   * ```
   */
  async [asyncDispose](): Promise<void> {
    await this.close();
  }

  /** State, side and counts, for logs: `Peer 3 (ws://localhost:8080/) { state: open, dialer, streams: 2, bufferedAmount: 0 }`. */
  toString(): string {
    return this.#core.describe();
  }

  /** What `console.log` prints in Node. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /** Keeps Vue from wrapping it in a Proxy: its tag is not that of a plain object. */
  get [Symbol.toStringTag](): string {
    return 'Peer';
  }

  /** Dials at once where the reconnect helper is waiting out a delay; does nothing else. */
  reconnectNow(): void {
    this.#core.source.dialNow();
  }

  /**
   * Begins to read, on a peer made with `new Peer(socket, …)`; calling it again changes nothing. On a peer of `accept` or
   * `handleUpgrade` it begins at once instead of a turn later. On a dialing peer it only sets the handler.
   *
   * @param handler as that of {@link onStream}
   * @returns the same promise as {@link closed}
   * @throws TypeError for a handler that is not a function
   *
   * @example
   * ```ts
   * const peer = new Peer(socket, { isDialer: false });
   * await peer.serve((payload, stream) => stream.reply(payload));   // { code: 1000, … } once the socket has ended
   * ```
   */
  serve(handler?: StreamHandler): Promise<CloseReason> {
    if (handler !== undefined) this.onStream(handler);
    this.#core.source.start();
    return this.closed;
  }

  /**
   * Answers streams that the remote opens; without a handler they are REFUSED. There is one; a second replaces the first with a
   * warning.
   *
   * What it returns is its work: when that settles, the stream is ended unless somebody has ended it, and when it throws or
   * rejects, the stream is reset with APPLICATION_ERROR, or as a ResetError says that was thrown.
   *
   * @example
   * ```ts
   * peer.onStream(({ n }: { n: number }, stream) => stream.reply(n * n));
   * // at the remote: await peer.request({ n: 12 }) gives 144
   * ```
   */
  onStream(handler: StreamHandler): Remove {
    return this.#core.incoming.setHandler(handler);
  }

  /**
   * Called with the reason of each socket that ends and each dial that fails, in order of registration. What it throws is logged.
   *
   * @returns removes it
   * @throws TypeError unless it is a function
   *
   * @example
   * ```ts
   * peer.onClose(({ code, willRetry }) => console.log(code, willRetry));   // 1006 true, where `reconnect` dials again
   * ```
   */
  onClose(handler: CloseHandler): Remove {
    return addHook(this.#core.hooks.closes, 'onClose', handler);
  }

  /**
   * Called with each error of a handler, and the stream it answered, in order of registration. The caller gets the message of the
   * error at most, and after a `notify` nothing. Without this hook, the option `onError` and a subscriber of {@link errors$}, the log
   * shows each error object once, at `error`.
   *
   * Left out are errors for the caller, which have an integer `resetCode`, and those that follow from the end of the stream.
   *
   * @returns removes it
   * @throws TypeError unless it is a function
   *
   * @example
   * ```ts
   * peer.onError((error, stream) => console.error(stream.id, error));   // 1 RangeError: no such seat
   * ```
   */
  onError(handler: ErrorHandler): Remove {
    return addHook(this.#core.hooks.errors, 'onError', handler);
  }

  /**
   * Called for every frame as it is on the wire: `tx` before it is encoded, `rx` after it is decoded, each fragment by itself; in order
   * of registration. The frame is a frozen copy. What it throws is logged.
   *
   * @returns removes it
   * @throws TypeError unless it is a function
   *
   * @example
   * ```ts
   * peer.onFrame((direction, { type, stream }) => console.log(direction, type, stream));
   * peer.notify('hi');   // tx open 1
   * ```
   */
  onFrame(observer: FrameObserver): Remove {
    return this.#core.hooks.onFrame(observer);
  }

  /**
   * Sees, and may change in place, the headers of every call before it has an id; with `retry` once per attempt, never those of a
   * hello. The payload is a frozen copy of what is sent. They run in order of registration. What one throws, the call fails with; a
   * promise is a TypeError.
   *
   * @returns removes it
   * @throws TypeError unless it is a function
   *
   * @example
   * ```ts
   * peer.interceptOpen((headers) => {
   *   headers['trace'] = crypto.randomUUID();
   * });
   * ```
   */
  interceptOpen(interceptor: OpenInterceptor): Remove {
    return addHook(this.#core.hooks.open, 'interceptOpen', interceptor);
  }

  /**
   * Sees, and may change in place, the headers of this side's first frame on every stream that the remote opened. They run in order of
   * registration. What one throws, `send`, `reply`, `end` or `sendHeaders` throws; a promise is a TypeError. Where a handler fails before
   * its first frame, the headers go ahead of the reset, and the caller has them as `replyHeaders`.
   *
   * @returns removes it
   * @throws TypeError unless it is a function
   *
   * @example
   * ```ts
   * peer.interceptReplyHeaders((headers, stream) => {
   *   headers['trace'] = stream.headers['trace'] ?? null;
   * });
   * ```
   */
  interceptReplyHeaders(interceptor: ReplyHeadersInterceptor): Remove {
    return addHook(this.#core.hooks.replyHeaders, 'interceptReplyHeaders', interceptor);
  }

  /**
   * Sees the headers of the remote's first frame on every stream, in order of registration; an empty object where the frame had none.
   * They are frozen all the way down, bytes excepted. What it throws is logged.
   *
   * @returns removes it
   * @throws TypeError unless it is a function
   *
   * @example
   * ```ts
   * peer.interceptIncomingHeaders((headers, stream) => console.log(stream.id, headers));   // 1 { trace: 'a7' }
   * ```
   */
  interceptIncomingHeaders(interceptor: IncomingHeadersInterceptor): Remove {
    return addHook(this.#core.hooks.incomingHeaders, 'interceptIncomingHeaders', interceptor);
  }
}
