import type { Observable } from 'rxjs';
import { SEND_NAMES } from '../stream/sending.js';
import type { Stream } from '../stream/stream.js';
import { asyncDispose, unheeded } from '../stream/promises.js';
import type { SocketLike } from '../transport/transport.js';
import { checkOptions } from '../util/check.js';
import type { Codec } from '../wire/codec.js';
import type { CloseReason } from '../wire/codes.js';
import type { MetadataInput } from '../wire/frame.js';
import { STREAM_NAMES, open, open$, ping, request, request$ } from './calls.js';
import type { InputOptions, OpenOptions } from './calls.js';
import { PeerCore } from './core.js';
import type { SocketSource } from './core.js';
import { overSocket } from './dial/given-socket.js';
import type { NewPeerOptions } from './dial/given-socket.js';
import { calls$, closes$, errors$, frames$, rtt$ } from './events.js';
import type { CallEvent, FrameEvent } from './events.js';
import { onClose, onError, onFrame, onIncomingHeaders, onOpen, onReplyHeaders } from './hooks.js';
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
} from './hooks.js';
import { resolveClose } from './options.js';
import type { CloseOptions, PeerContext } from './options.js';
import { statsOf } from './stats.js';
import type { PeerStats } from './stats.js';
import type { PeerStatus } from './status.js';

/**
 * One side of a connection. It opens streams, answers streams of the other side, and reports events.
 *
 * `connect()` returns a peer that dials. `serve()` emits the peers that dialed it; `handleUpgrade()` and `accept()` return one each.
 *
 * @example
 * ```ts
 * const peer = connect('wss://example.org/mux');
 * await peer.request({ op: 'sum', of: [1, 2, 3] });   // 6
 * ```
 */
export class Peer {
  readonly #core: PeerCore;

  /**
   * Makes a peer over a socket of your own. The peer reads nothing before {@link serve}.
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
    const { core, source, handler } =
      socket instanceof PeerCore
        ? { core: socket, source: given as SocketSource, handler: onStream }
        : overSocket(socket, given as NewPeerOptions);
    this.#core = core;
    core.belongTo(this, source);
    if (handler !== undefined) core.incoming.setHandler(handler);
  }

  /** @internal `null` for a peer of another copy of the package. */
  static core(peer: Peer): PeerCore | null {
    return #core in peer ? peer.#core : null;
  }

  /**
   * Whether this side dialed. Streams of the dialer have odd ids, streams of the acceptor have even ones (S1).
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
   * The codec of every message, in both directions (V5). It is the option `codec`, or else the codec that was registered under
   * `settings.codec` when the peer was made.
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
   * The context that the acceptor's `verify` returned, or the option `context`. A peer of `handleUpgrade` has the option's value until
   * `verify` has decided.
   */
  get context(): PeerContext {
    return (this.#core.context ??= {});
  }

  /**
   * The current state of the connection.
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

  /** Emits the current {@link status} on subscription, then each change; completes after `closed`. */
  get status$(): Observable<PeerStatus> {
    return this.#core.status.status$;
  }

  /**
   * Bytes of payload that this side has accepted for sending and no socket has passed on to the system. They wait for a connection, for
   * their turn, or in the socket, where envelopes count too.
   *
   * Check it, as with a WebSocket, before you push without waiting, for example with `notify`: such calls have no other back-pressure
   * (RELIABILITY.md).
   *
   * @example
   * ```ts
   * for (const peer of server.peers) if (peer.bufferedAmount < 1_000_000) peer.notify(price);
   * peer.bufferedAmount;   // 0 if the remote reads
   * ```
   */
  get bufferedAmount(): number {
    return this.#core.bufferedAmount;
  }

  /**
   * Resolves with this peer once the socket is open and the hello was answered. A socket whose remote goes away during the hello does
   * not count.
   *
   * Rejects once that can no longer happen: with the error of the status `closed`, or else with a ConnectionLostError. You need not
   * handle the rejection. Reading this does not make a `lazy` peer dial. Each read returns a new promise: after a lost socket, it waits
   * for the next socket.
   *
   * @example
   * ```ts
   * const peer = await connect('wss://example.org/mux', { reconnect: true }).opened;
   * peer.status.state;   // 'open'
   * ```
   */
  get opened(): Promise<this> {
    return unheeded((resolve, fail) => {
      this.#core.status.whenOpened(() => {
        resolve(this);
      }, fail);
    });
  }

  /** Resolves with the reason of the last socket once the peer has ended for good. Never rejects. Always the same promise. */
  get closed(): Promise<CloseReason> {
    return this.#core.status.closed;
  }

  /**
   * Closes the connection in good order (C8):
   *
   * - it sends a goaway and everything that was accepted for sending
   * - live streams have `drainMs` to end; then the rest is reset with CANCEL
   * - the WebSocket closes with 1000 once the remote has read everything, even over lines of 8 kB/s
   * - the socket is terminated if nothing moves for 2 s and no pong is still due (C2a)
   *
   * A second call can only shorten the drain; code and reason of the first call stay.
   *
   * Without a connection the peer can send nothing: waiting calls fail, and a waiting `notify` is dropped with a warning. If the
   * `notify` must arrive, `await peer.opened` first.
   *
   * @returns the same promise as {@link closed}: the reason of the last socket
   * @throws TypeError unless `drainMs` is a non-negative number, `code` an integer and `reason` a string; then the peer stays open
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
   * Calls {@link close} with a `drainMs` of 0 at the end of an `await using` block, and waits for it. Streams that must end first must
   * be awaited in the block.
   *
   * @example
   * ```ts
   * await using peer = connect('wss://example.org/mux');
   * await peer.request({ op: 'sum', of: [1, 2] });   // 3; the peer closes at the end of the block
   * ```
   */
  async [asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns state, side and counts, for logs: `Peer 3 (ws://localhost:8080) { state: open, dialer, streams: 2, bufferedAmount: 0 }`. */
  toString(): string {
    return this.#core.describe();
  }

  /** Makes `console.log` of Node print {@link toString}. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /** Keeps Vue from wrapping it in a Proxy, since Vue wraps only objects with the tag of a plain one. */
  get [Symbol.toStringTag](): string {
    return 'Peer';
  }

  /**
   * Dials at once if the reconnect helper waits before its next dial. An open socket is probed: it has 2.5 s for a sign of life, unless
   * `keepalive` is `false`. Call it when a program has woken up that is no page: pages do it by themselves.
   */
  reconnectNow(): void {
    this.#core.probe();
    this.#core.source.dialNow();
  }

  /**
   * Emits every stream that the remote opens, over each socket; completes when the peer has ended. It is hot: every subscriber receives
   * the same stream, in the order of subscription, and no earlier streams.
   *
   * A subscriber takes a stream if it reads the stream, sends on it or resets it at once. A stream that no subscriber takes goes to the
   * {@link onStream} handler.
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
   * Emits every stream that this side opens, from the subscription on: the mirror of {@link streams$}. It emits before the open is sent, for
   * each attempt of a `retry`, and not for a hello. Completes when the peer has ended.
   *
   * @example
   * ```ts
   * peer.calls$.subscribe(({ stream, at, end$ }) => {
   *   end$.subscribe((end) => console.log(stream.label, end.cause.how, end.at - at));
   * });
   * await peer.request({ op: 'sum', of: [1, 2] });   // sum ended 12
   * ```
   */
  get calls$(): Observable<CallEvent> {
    return calls$(this.#core);
  }

  /**
   * Returns the last round trip, in ms; `null` before the first. Pings of keepalive, of bulk and of {@link ping} measure it: a connection in use
   * is measured by itself. Behind a large transfer it includes the time that the transfer takes. It also includes the time for which a slow
   * reader's side held the pong back, up to 5 s.
   *
   * @example
   * ```ts
   * await peer.ping();
   * peer.rttMs;   // 23
   * ```
   */
  get rttMs(): number | null {
    return this.#core.rttMs;
  }

  /** Emits every {@link rttMs} from the subscription on; completes when the peer has ended. */
  get rtt$(): Observable<number> {
    return rtt$(this.#core);
  }

  /**
   * Returns facts about this peer now: its streams, how they ended, its frames and bytes, what waits, and how much of its limits is used.
   * It looks at each socket and each stream that has frames waiting.
   *
   * @example
   * ```ts
   * await peer.request({ op: 'sum', of: [1, 2] });
   * peer.stats().ended;      // { ended: 1 }
   * peer.stats().received;   // { frames: 1, bytes: 46 }
   * ```
   */
  stats(): PeerStats {
    return statsOf(this.#core);
  }

  /**
   * Emits every frame from the subscription on, with its time and size, over each socket; completes when the peer has ended. It emits a
   * sent frame once the frame is encoded. Only {@link onFrame} sees a frame that cannot be encoded.
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
    return frames$(this.#core);
  }

  /** Emits each error that {@link onError} receives, from the subscription on; completes when the peer has ended. */
  get errors$(): Observable<HandlerFailure> {
    return errors$(this.#core);
  }

  /** Emits each reason that {@link onClose} receives, from the subscription on; completes after the last one. */
  get closes$(): Observable<CloseReason> {
    return closes$(this.#core);
  }

  /**
   * Sends a request and resolves with the answer: the first payload that comes back, or `null` for an end without a payload (S11).
   *
   * The answer does not end the other side. A producer that continues is cancelled at its second payload (S11), or when `timeoutMs` is
   * over. If the producer has more to send, `open$().pipe(take(1))` cancels at the first payload.
   *
   * Never throws; every failure rejects. It rejects with any error of an interceptor or `onOpen`, and with every `AnyMuxError`. It
   * rejects with a TypeError for a bad option, and for a payload or headers that the codec cannot represent.
   *
   * @example
   * ```ts
   * await peer.request({ op: 'sum', of: [1, 2] }, { timeoutMs: 1_000 });   // 3
   * ```
   */
  request<R = unknown>(payload?: unknown, options: OpenOptions<R, never> = {}): Promise<R> {
    return request(this.#core, payload, options as OpenOptions) as Promise<R>;
  }

  /**
   * {@link request} as a cold Observable. Each subscription sends a request, and unsubscribing before the answer cancels it. A producer
   * that continues after the answer is cancelled as {@link request} says.
   *
   * Errors with the same errors as the promise. A call that fails at once errors on a later turn.
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
    return request$(this.#core, payload, options as OpenOptions) as Observable<R>;
  }

  /**
   * Opens a stream at once. While the peer connects, the stream waits for the connection. A peer that opens no more streams returns a
   * stream that is already REFUSED.
   *
   * @param options `end: true` if the call sends only the payload
   * @throws any error of an open interceptor or `onOpen`; TypeError for a bad option, and for a payload or headers that the codec
   *   cannot represent; ProtocolError for headers that do not fit a message; QueueOverflowError when too much waits for a connection
   *   (`maxQueuedBytes`); StreamIdsExhaustedError when the ids have run out and no other socket is dialed (S1)
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
    checkOptions(options, STREAM_NAMES);
    return open(this.#core, payload, options.end === true ? 'end' : 'continue', options as OpenOptions).facade as Stream<In, Out>;
  }

  /**
   * Opens a stream for each subscription. Without `input` the open carries the end. With `input`, its values are sent as data, and its
   * completion is the end. The Observable completes when the remote has ended and the input is done. Unsubscribing resets the stream
   * with CANCEL.
   *
   * Errors with any error that {@link open} throws, and with the error that ended the stream or the input. An input that fails with
   * `undefined` or `null` errors with the ResetError that the remote receives. A call that fails at once errors on a later turn.
   *
   * @throws TypeError for an unknown `overflow`, for an invalid `retry`, and for `retry` with an input that emits its values only once
   *
   * @example
   * ```ts
   * peer.open$<number>({ op: 'ticks' }).pipe(take(2)).subscribe(console.log);
   * // 0
   * // 1
   * ```
   */
  open$<In = unknown, Out = unknown>(payload?: unknown, options: OpenOptions<In, Out> & InputOptions<Out> = {}): Observable<In> {
    return open$(this.#core, payload, options as OpenOptions & InputOptions) as Observable<In>;
  }

  /**
   * Sends one payload without waiting for anything: answers are dropped (S11), and the caller never learns whether the payload has
   * arrived.
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
    checkOptions(options, SEND_NAMES);
    open(this.#core, payload, 'notify', options);
  }

  /**
   * Resolves with the round trip of a ping (C1), in ms. While the peer connects, the ping waits for the connection; that time does not
   * count. Rejects with a ConnectionLostError when the socket ends first, and as {@link opened} does when there will be no socket. You
   * need not handle the rejection.
   *
   * A peer sends at most 500 such pings at once and 16 each second, so that the remote does not treat them as a flood. Calls beyond
   * that share the next ping.
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
   * Makes a peer of `new Peer(socket, …)` begin to read; calling it again changes nothing. A peer of `accept` or `handleUpgrade` begins
   * at once instead of one turn later. On a dialing peer it only sets the handler.
   *
   * @param handler the same as for {@link onStream}
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
   * Sets the handler that answers streams of the remote; without a handler they are REFUSED. A peer has one handler: a second replaces
   * the first with a warning.
   *
   * The handler's work ends when it returns, or when the promise that it returns resolves. Then the stream is ended, unless it has
   * ended already. If the handler throws or its promise rejects, the stream is reset with APPLICATION_ERROR. A ResetError sets the
   * reset instead.
   *
   * @example
   * ```ts
   * peer.onStream(({ n }: { n: number }, stream) => stream.reply(n * n));
   * // at the remote: await peer.request({ n: 12 }) returns 144
   * ```
   */
  onStream(handler: StreamHandler): Remove {
    return this.#core.incoming.setHandler(handler);
  }

  /**
   * Adds a handler that is called with the reason of each socket that ends and each dial that fails. Handlers run in order of
   * registration. An error that a handler throws is logged.
   *
   * @returns a function that removes it
   * @throws TypeError unless `handler` is a function
   *
   * @example
   * ```ts
   * peer.onClose(({ code, willRetry }) => console.log(code, willRetry));   // 1006 true, if `reconnect` dials again
   * ```
   */
  onClose(handler: CloseHandler): Remove {
    return onClose(this.#core.ownHooks, handler);
  }

  /**
   * Adds a function that is called with each handler error and the stream that the handler answered. The functions run in order of
   * registration. The caller sees at most the message of the error, and nothing after a `notify`. Without this hook, the option
   * `onError` and a subscriber of {@link errors$}, the log shows each error object once, at `error`.
   *
   * The function does not receive errors meant for the caller, which have an integer `resetCode`. Nor does it receive errors that
   * follow from the end of the stream.
   *
   * @returns a function that removes it
   * @throws TypeError unless `handler` is a function
   *
   * @example
   * ```ts
   * peer.onError((error, stream) => console.error(stream.id, error));   // 1 RangeError: no such seat
   * ```
   */
  onError(handler: ErrorHandler): Remove {
    return onError(this.#core.ownHooks, handler);
  }

  /**
   * Adds an observer that is called with every frame as it is on the wire: `tx` before it is encoded, `rx` after it is decoded. Each
   * fragment is a frame. The frame is a frozen copy. Observers run in order of registration. An error that an observer throws is
   * logged.
   *
   * @returns a function that removes it
   * @throws TypeError unless `observer` is a function
   *
   * @example
   * ```ts
   * peer.onFrame((direction, { type, stream }) => console.log(direction, type, stream));
   * peer.notify('hi');   // tx open 1
   * ```
   */
  onFrame(observer: FrameObserver): Remove {
    return onFrame(this.#core.ownHooks, observer);
  }

  /**
   * Adds an interceptor that is called with the headers of every call before the call has an id. It may change the headers in place.
   * With `retry` it is called once per attempt; it never sees the headers of a hello. The payload is a frozen copy of what is sent.
   *
   * Interceptors run in order of registration. If one throws, the call fails with that error; a returned promise fails the call with a
   * TypeError.
   *
   * @returns a function that removes it
   * @throws TypeError unless `interceptor` is a function
   *
   * @example
   * ```ts
   * peer.interceptOpen((headers) => {
   *   headers['trace'] = crypto.randomUUID();
   * });
   * ```
   */
  interceptOpen(interceptor: OpenInterceptor): Remove {
    return onOpen(this.#core.ownHooks, 'interceptOpen', interceptor);
  }

  /**
   * Adds an interceptor that is called with the headers of this side's first frame on every stream of the remote. It may change the
   * headers in place.
   *
   * Interceptors run in order of registration. If one throws, `send`, `reply`, `end` or `sendHeaders` throws that error; for a returned
   * promise it throws a TypeError. If a handler fails before its first frame, the headers precede the reset, and the caller reads them
   * as `replyHeaders`.
   *
   * @returns a function that removes it
   * @throws TypeError unless `interceptor` is a function
   *
   * @example
   * ```ts
   * peer.interceptReplyHeaders((headers, stream) => {
   *   headers['trace'] = stream.headers['trace'] ?? null;
   * });
   * ```
   */
  interceptReplyHeaders(interceptor: ReplyHeadersInterceptor): Remove {
    return onReplyHeaders(this.#core.ownHooks, interceptor);
  }

  /**
   * Adds an interceptor that is called with the headers of the remote's first frame on every stream; a frame without headers passes an
   * empty object. The headers are frozen at all levels, except bytes, dates, Maps and Sets. Interceptors run in order of registration. An
   * error that an interceptor throws is logged.
   *
   * @returns a function that removes it
   * @throws TypeError unless `interceptor` is a function
   *
   * @example
   * ```ts
   * peer.interceptIncomingHeaders((headers, stream) => console.log(stream.id, headers));   // 1 { trace: 'a7' }
   * ```
   */
  interceptIncomingHeaders(interceptor: IncomingHeadersInterceptor): Remove {
    return onIncomingHeaders(this.#core.ownHooks, interceptor);
  }
}
