import { Observable } from 'rxjs';
import type { ObservableInput, Observer, Subscriber, Subscription, TeardownLogic } from 'rxjs';
import type { CloseCause } from '../../session/base/close-cause.js';
import type { StreamPhase } from '../../session/streams/stream-state.js';
import { checkObject } from '../../wire/check.js';
import { ABSENT } from '../../wire/frame.js';
import type { Metadata, MetadataInput } from '../../wire/frame.js';
import { ResetCode } from '../../wire/reset-code.js';
import { sendAll } from './feed.js';
import type { FeedOptions } from './feed.js';
import { checkValue } from './check-value.js';
import { checkOverflow } from './overflow.js';
import { observerOf } from '../../rx/guarded-observable.js';
import { labelled } from '../base/label.js';
import { isSubscriber } from '../../rx/is-subscriber.js';
import { GuardedObserver } from '../../rx/unhandled.js';
import type { Peer } from '../peer.js';
import { resetByUser } from './own-resets.js';
import type { StreamCore } from './stream-core.js';
import { StreamIterator } from './stream-iterator.js';

/** Headers for this side's first frame on a stream that the remote opened. */
export interface SendOptions {
  /** Metadata ahead of the answer (S4), copied; an object without keys is none (S13). A TypeError after this side's first frame. Default none. */
  readonly headers?: MetadataInput | undefined;
}

/** Trailers, which go with the end. */
export interface EndOptions {
  /** Metadata known only now, such as a count or a checksum (S4), copied. Default those of `setTrailers`, else none. */
  readonly trailers?: MetadataInput | undefined;
}

/** Headers, where the reply is this side's first frame, and trailers for its end. */
export interface ReplyOptions extends SendOptions, EndOptions {}

/**
 * One stream of a peer: an Observable, and an async iterable, of the payloads received, and the calls that send. It is not
 * thenable, so `switchMap(() => stream)` and returning one from an async function work as for any Observable.
 *
 * Payloads that come before the first subscriber wait for it, counted in bytes; later subscribers share what is left. A loop
 * with `for await` takes one when it asks for the next, and what waits holds the sender back (`pauseBytes`); a subscriber takes
 * each as it comes, and what it then does with them is its own affair.
 * When the last subscriber of a stream that this side opened leaves, the stream is reset with CANCEL. On a stream that the
 * remote opened it only stops reading: what comes while nobody reads is dropped then, and a second reader after the first gets
 * only what comes while it reads. To read one payload now and more later, keep one iterator:
 * `const it = stream[Symbol.asyncIterator]()`.
 *
 * @typeParam In what is received
 * @typeParam Out what is sent
 *
 * @example
 * ```ts
 * const stream = peer.open<number>({ op: 'count' }, { end: true });
 * stream.pipe(take(3)).subscribe(console.log);   // 1, 2, 3, and then the server's producer is cancelled
 * ```
 */
export class Stream<In = unknown, Out = unknown> extends Observable<In> implements AsyncIterable<In> {
  readonly #streamCore: StreamCore;

  private constructor(streamCore: StreamCore) {
    super(read);
    this.#streamCore = streamCore;
  }

  /** @internal */
  static around(streamCore: StreamCore): Stream {
    return new this(streamCore);
  }

  /** @internal */
  static streamCore(stream: Stream): StreamCore {
    if (#streamCore in stream) return stream.#streamCore;
    throw new TypeError('expected a stream of this copy of rxmux, got one of another: the package is there twice');
  }

  /** Keeps Vue from wrapping it in a Proxy: its tag is not that of a plain object. */
  get [Symbol.toStringTag](): string {
    return 'Stream';
  }

  /** The peer that the stream belongs to. */
  get peer(): Peer {
    return this.#streamCore.host.peer;
  }

  /** The stream's id; `null` until a socket has taken it. */
  get id(): number | null {
    return this.#streamCore.line.id;
  }

  /** Whether this side opened the stream. */
  get local(): boolean {
    return this.#streamCore.local;
  }

  /** The opener's headers; empty when there were none. */
  get headers(): Readonly<Metadata> {
    return this.#streamCore.headers;
  }

  /** The opener's payload; `null` when there was none, which {@link hasPayload} tells from a `null` that was sent. */
  get payload(): unknown {
    const { payload } = this.#streamCore;
    return payload === ABSENT ? null : payload;
  }

  /** Whether the stream was opened with a payload; a `null` that was sent is one. */
  get hasPayload(): boolean {
    return this.#streamCore.payload !== ABSENT;
  }

  /**
   * Names the stream for people, from its payload: the option `label` says how. An empty text where the payload has no name.
   *
   * @example
   * ```ts
   * peer.open({ op: 'search', text: 'mux' }).label;   // 'search'
   * ```
   */
  get label(): string {
    return labelled(this.#streamCore.host.options.label, this.payload);
  }

  /** Headers of the remote's first frame on a stream that this side opened; `null` until it has come, empty when it had none. */
  get replyHeaders(): Readonly<Metadata> | null {
    return this.#streamCore.replyHeaders;
  }

  /** Trailers of the remote; `null` until its end has come, and when it had none. Set before that end is delivered. */
  get trailers(): Readonly<Metadata> | null {
    return this.#streamCore.trailers;
  }

  /**
   * Where the stream is in its life. Its open, and its end on this side, count once they are written, not when they are queued (S3).
   *
   * @example
   * ```ts
   * await stream.end();
   * stream.phase;   // 'halfClosedLocal' as soon as the socket has taken it; the remote may go on
   * ```
   */
  get phase(): StreamPhase {
    return this.#streamCore.phase;
  }

  /**
   * What ended the stream (S7); `null` while it is live. `by` of a reset tells whether this program, the library or the remote
   * did it.
   *
   * @example
   * ```ts
   * stream.reset(300, 'quota used up');
   * stream.cause;   // { how: 'reset', by: 'user', code: 300, reason: 'quota used up', payload: null }
   * ```
   */
  get cause(): CloseCause | null {
    return this.#streamCore.cause;
  }

  /** Aborts when the stream ends, however it ends; its reason is the error that ended it, if one did. */
  get signal(): AbortSignal {
    return this.#streamCore.extras.signal;
  }

  /** {@link replyHeaders} when they come, replayed to late subscribers; completes without them when the stream ends first. */
  get replyHeaders$(): Observable<Readonly<Metadata>> {
    return this.#streamCore.extras.replyHeaders$;
  }

  /** Resolves with what ended the stream; never rejects. */
  get closed(): Promise<CloseCause> {
    return this.#streamCore.extras.closed;
  }

  /**
   * Sends this side's headers ahead of the first value, on a stream that the remote opened (S4). Does nothing where neither the
   * call nor an interceptor has any, after this side's first frame, and on a stream that this side opened.
   *
   * @throws TypeError for headers that are not a plain object or that the codec cannot represent; ProtocolError for headers that
   *   do not fit a frame; what a reply-headers interceptor throws
   *
   * @example
   * ```ts
   * stream.sendHeaders({ total: 1_200 });
   * // at the opener, ahead of any value: stream.replyHeaders is { total: 1200 }
   * ```
   */
  sendHeaders(headers?: MetadataInput): void {
    this.#streamCore.outbox.sendHeaders(headers);
  }

  /**
   * Sends one value.
   *
   * @returns a promise that resolves once the stream's queue is below 256 KiB and those of all streams below
   *   `sendHighWaterBytes`, at once in the common case. It rejects when the stream can take no value any more: with what ended
   *   the stream, a ProtocolError after this side's end, a CancelledError while the peer closes, a QueueOverflowError, which ends
   *   the stream, when too much is queued (`maxUnsentBytes`; without a connection `maxQueuedBytes`). The rejection need not be
   *   handled.
   * @throws TypeError for `undefined` and `ABSENT`, for a value the codec cannot represent and for headers that come too late;
   *   ProtocolError for headers that do not fit a frame; what a reply-headers interceptor throws
   *
   * @example
   * ```ts
   * for (const row of rows) await stream.send(row);   // no faster than the socket takes them
   * ```
   */
  send(value: Out, options: SendOptions = {}): Promise<void> {
    checkValue(value);
    checkObject('options', options);
    return this.#streamCore.outbox.send(value, options.headers);
  }

  /**
   * Sends the values of any Observable, promise, iterable, async iterable or ReadableStream, and then the end. Iterables and
   * streams are pulled as the queue drains; other Observables push. Where the stream ends before its input, a ReadableStream is
   * cancelled and unlocked, and a stream of Node destroyed; the HTTP request that a server answers, though, only ends at its next
   * chunk. So does an async generator at its next value, because none can be stopped while it waits: one that waits for long
   * should listen to {@link signal}, or be an Observable.
   *
   * @param options `end: false` leaves this side of the stream open after the last value; `overflow` says what becomes of
   *   a value that is pushed while the queue is full
   * @returns a promise that resolves when everything has been accepted, or when the remote resets with NO_ERROR because it
   *   needs no more; it rejects with the input's error, after the stream was reset with it (for `undefined` and `null`, with
   *   that reset as a ResetError), with the stream's, or with a
   *   ProtocolError when this side was ended before the input, as by a handler that did not return this promise (with
   *   `end: false` that resolves). The rejection need not be handled.
   * @throws TypeError for an unknown `overflow`
   *
   * @example
   * ```ts
   * // once 256 KiB wait and the socket is full, only the newest price; for few and new ones from the first on, see withCredit
   * peer.onStream((_, stream) => stream.sendAll(prices$, { overflow: 'latest' }));
   * ```
   */
  sendAll(input: ObservableInput<Out> | Blob, options: FeedOptions = {}): Promise<void> {
    checkObject('options', options);
    checkOverflow(options.overflow);
    return sendAll(this.#streamCore, input, options);
  }

  /**
   * Sets the trailers, which go once, with this side's end: that of `reply`, `end` and `sendAll`, or that of a handler which
   * settles. A function is asked by the call that ends; `null` stands for none. A later call replaces them, those given to `reply` or
   * `end` go instead of them, and after the end the call does nothing.
   *
   * Never throws. Trailers that cannot be sent, and a function that throws, make `reply` and `end` throw, and elsewhere reset
   * the stream as a handler that throws does.
   *
   * @example
   * ```ts
   * stream.setTrailers({ rows: 2 });
   * await stream.sendAll(['a', 'b']);
   * // at the opener, after 'b': stream.trailers is { rows: 2 }
   * ```
   */
  setTrailers(trailers: MetadataInput | (() => MetadataInput | null)): void {
    this.#streamCore.outbox.setTrailers(trailers);
  }

  /**
   * Sends one last value and the end. Without a value, or with `undefined`, no payload is sent; `null` is a payload.
   *
   * @returns a promise as {@link send} gives; after the end the value is lost, with a ProtocolError and one warning
   * @throws TypeError for a value or metadata that the codec cannot represent and for headers that come too late; ProtocolError
   *   for headers or trailers that do not fit a frame; what a reply-headers interceptor or a function of `setTrailers` throws
   *
   * @example
   * ```ts
   * peer.onStream((name, stream) => stream.reply(`hello ${name}`, { trailers: { rows: 1 } }));
   * // at the remote: await peer.request('you') gives 'hello you'
   * ```
   */
  reply(value?: Out, options: ReplyOptions = {}): Promise<void> {
    checkObject('options', options);
    return this.#streamCore.outbox.sendLast(value, options.headers, options.trailers);
  }

  /**
   * Ends this side of the stream without a value; the remote's may go on (S2).
   *
   * @returns a promise as {@link reply} gives
   * @throws as {@link reply} does, for trailers
   *
   * @example
   * ```ts
   * await stream.end({ trailers: { rows: 2 } });
   * // sends {"type":"data","stream":1,"end":true,"trailers":{"rows":2}}
   * ```
   */
  end(options: EndOptions = {}): Promise<void> {
    checkObject('options', options);
    return this.#streamCore.outbox.sendLast(undefined, undefined, options.trailers);
  }

  /**
   * Aborts the stream on both sides (S5); does nothing once it is closed. APPLICATION_ERROR, NO_ERROR and an application's own
   * codes go after what is queued, all others instead of it (S8). Readers on this side see a CancelledError for CANCEL, and a
   * ResetError for any other code.
   *
   * @param code default CANCEL; an application's own codes start at 256
   * @param reason cut to 1 024 bytes, and further where a small cap needs it (R4)
   * @param payload sent along; left out when the codec cannot represent it
   * @throws TypeError for a code that is not an integer and for a reason that is not a string, on a closed stream too; for REFUSED after
   *   this side's first frame, hence on every stream that this side opened (R2)
   *
   * @example
   * ```ts
   * stream.reset(300, 'quota used up', { limit: 10 });
   * // at the remote: ResetError { resetCode: 300, reason: 'quota used up', payload: { limit: 10 } }
   * ```
   */
  reset(code: ResetCode = ResetCode.CANCEL, reason = '', payload?: unknown): void {
    resetByUser(this.#streamCore, code, reason, payload);
  }

  /** Id, side and phase, for logs: `Stream 3 { opened by this side, phase: open }`. */
  override toString(): string {
    const { id, local, phase } = this;
    return `Stream${id === null ? '' : ` ${id}`} { opened by ${local ? 'this side' : 'the remote'}, phase: ${phase} }`;
  }

  /** What `console.log` prints in Node. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /** Reads one payload at a time; `break` leaves the stream as the last unsubscribe does. */
  [Symbol.asyncIterator](): AsyncIterableIterator<In> {
    return new StreamIterator<In>(this.#streamCore);
  }

  /**
   * Reads every payload as it comes. An error without a handler goes to `config.onUnhandledError` of rxjs if the program sets it, or else to
   * the log. The same holds for an error that an observer throws. The log reports an error of a teardown when the stream ends.
   */
  override subscribe(
    observerOrNext?: Partial<Observer<In>> | ((value: In) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    const observer = observerOf(observerOrNext, error, complete);
    return super.subscribe(isSubscriber<In>(observer) ? observer : new GuardedObserver(observer));
  }
}

// One function for all streams, because a closure for each would be a good part of what an idle one weighs.
function read(this: Observable<unknown>, subscriber: Subscriber<unknown>): TeardownLogic {
  return this instanceof Stream ? Stream.streamCore(this).inbox.subscribe(subscriber) : undefined;
}
