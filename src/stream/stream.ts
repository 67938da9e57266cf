import { extrasOf } from './extras.js';
import { Observable } from 'rxjs';
import type { Observer, Subscriber, Subscription, TeardownLogic } from 'rxjs';
import type { Peer } from '../peer/peer.js';
import { subscriberOf } from '../rx/subscribers.js';
import { checkOptions, checkReset, optionError } from '../util/check.js';
import { ResetCode } from '../wire/codes.js';
import { ResetError } from '../wire/errors.js';
import { ABSENT } from '../wire/frame.js';
import type { Metadata, MetadataInput } from '../wire/frame.js';
import type { CloseCause } from './end.js';
import { sendAll } from './feed.js';
import type { FeedOptions } from './feed.js';
import type { Source } from './input.js';
import { StreamIterator } from './iterator.js';
import { labelled } from './label.js';
import { checkValue } from './payload.js';
import { asyncDispose } from './promises.js';
import { END_NAMES, REPLY_NAMES, SEND_NAMES, resetPayload, send, sendHeaders } from './sending.js';
import type { EndOptions, ReplyOptions, SendOptions } from './sending.js';
import type { StreamPhase } from './state.js';
import type { StreamCore } from './stream-core.js';

const OTHER_COPY = 'expected a stream of this copy of rxmux, got one of another: the package is there twice';

/**
 * One stream of a peer. It is an Observable and an async iterable of the received payloads, and has the methods that send. It is not
 * thenable, so `switchMap(() => stream)` works as for any Observable, and an async function can return it.
 *
 * Payloads that come before the first subscriber wait for it, counted in bytes. Later subscribers share the remaining payloads. A `for await`
 * loop takes one payload at each step, and waiting payloads hold the sender back (`pauseBytes`). A subscriber receives each payload as it
 * comes. Payloads that a subscriber buffers itself do not hold the sender back.
 *
 * When the last subscriber leaves a stream that this side opened, the stream is reset with CANCEL. On a stream that the remote opened, only
 * the reading stops. Payloads that come without a reader are then dropped. A second reader after the first receives only payloads that come
 * while it reads. To read one payload now and more later, keep one iterator: `const it = stream[Symbol.asyncIterator]()`.
 *
 * @typeParam In the type of received payloads
 * @typeParam Out the type of sent payloads
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
    if (typeof stream === 'object' && (stream as unknown) !== null && #streamCore in stream) return stream.#streamCore;
    const isOther = typeof (stream as Partial<Stream> | null | undefined)?.subscribe === 'function';
    throw isOther ? new TypeError(OTHER_COPY) : optionError('stream', 'a stream of rxmux', stream);
  }

  /** Keeps Vue from wrapping the stream in a Proxy: this tag differs from the tag of a plain object. */
  get [Symbol.toStringTag](): string {
    return 'Stream';
  }

  /** The stream's id; `null` until a socket has accepted the stream. */
  get id(): number | null {
    return this.#streamCore.id;
  }

  /** Whether this side opened the stream. */
  get local(): boolean {
    return this.#streamCore.local;
  }

  /** The opener's headers; empty if it sent none. */
  get headers(): Readonly<Metadata> {
    return this.#streamCore.headers;
  }

  /** The opener's payload; `null` if it sent none. {@link hasPayload} distinguishes a sent `null` from no payload. */
  get payload(): unknown {
    const { payload } = this.#streamCore;
    return payload === ABSENT ? null : payload;
  }

  /** Whether the stream was opened with a payload. A sent `null` is a payload. */
  get hasPayload(): boolean {
    return this.#streamCore.payload !== ABSENT;
  }

  /**
   * A name of the stream for people, which the option `label` derives from the payload. Empty if the payload has no name.
   *
   * @example
   * ```ts
   * peer.open({ op: 'search', text: 'mux' }).label;   // 'search'
   * ```
   */
  get label(): string {
    return labelled(this.#streamCore.owner.options.label, this.payload);
  }

  /** Headers of the remote's first frame on a stream that this side opened. `null` until that frame has come; empty if it had none. */
  get replyHeaders(): Readonly<Metadata> | null {
    return this.#streamCore.replyHeaders;
  }

  /** Trailers of the remote; `null` until its end has come, or if it sent none. They are set before the end is delivered. */
  get trailers(): Readonly<Metadata> | null {
    return this.#streamCore.trailers;
  }

  /**
   * The phase of the stream's life. The open, and the end of this side, count once they are written, not when they are queued (S3).
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
   * The cause of the stream's end (S7); `null` while the stream is live. `by` of a reset names its actor: this program, the library or the
   * remote.
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

  /**
   * Aborts the stream on both sides (S5). Does nothing once the stream is closed. A reset with APPLICATION_ERROR, NO_ERROR or an application's
   * own code leaves after the queued frames. Any other reset drops them (S8). Readers on this side see a CancelledError for CANCEL, and a
   * ResetError for any other code.
   *
   * @param code default CANCEL; an application's own codes start at 256.
   * @param reason cut to 1 024 bytes, or to fewer if the cap is small (R4)
   * @param payload sent along; left out if the codec cannot represent it, except for the `name` and `message` of an error.
   * @throws TypeError for a code that is not an integer and for a reason that is not a string, on a closed stream too. Also for
   *   REFUSED after this side's first frame, hence on every stream that this side opened (R2)
   *
   * @example
   * ```ts
   * stream.reset(300, 'quota used up', { limit: 10 });
   * // at the remote: ResetError { resetCode: 300, reason: 'quota used up', payload: { limit: 10 } }
   * ```
   */
  reset(code: ResetCode = ResetCode.CANCEL, reason = '', payload?: unknown): void {
    checkReset('reset', code, reason);
    const stream = this.#streamCore;
    if (stream.hasClosed) return;
    if (code === ResetCode.REFUSED && stream.begun)
      throw new TypeError('reset: expected another code than REFUSED, which vouches that nothing was done, on a stream that has begun');
    // For CANCEL the cause alone yields the right error.
    const error = code === ResetCode.CANCEL ? undefined : new ResetError(code, reason, payload ?? null, { streamId: stream.id });
    stream.markTaken();
    stream.reset('user', code, reason, { payload, encodedPayload: resetPayload(stream.owner, payload, stream.id), error });
  }

  /**
   * Resets a live stream with CANCEL at the end of an `await using` block, and drops its queued frames. So await its end in the block if
   * the remote must receive all of them.
   *
   * @example
   * ```ts
   * await using ticks = peer.open<number>({ op: 'ticks' });
   * await firstValueFrom(ticks);   // 0; the producer is cancelled at the end of the block
   * ```
   */
  [asyncDispose](): Promise<void> {
    this.reset();
    return Promise.resolve();
  }

  /** Returns id, side and phase for logs: `Stream 3 { opened by this side, phase: open }`. */
  override toString(): string {
    const { id, local, phase } = this;
    return `Stream${id === null ? '' : ` ${id}`} { opened by ${local ? 'this side' : 'the remote'}, phase: ${phase} }`;
  }

  /** Returns the text that `console.log` prints in Node. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }

  /**
   * Reads every payload as it comes. An error without a handler goes to `config.onUnhandledError` of rxjs if the program sets it, or else to
   * the log. So does an error that an observer throws. The log reports an error of a teardown when the stream ends.
   */
  override subscribe(
    observerOrNext?: Partial<Observer<In>> | ((value: In) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    return super.subscribe(subscriberOf(observerOrNext, error, complete));
  }

  /** The peer of the stream. */
  get peer(): Peer {
    return this.#streamCore.owner.peer;
  }

  /** Aborts when the stream ends, however it ends. Its reason is the error that ended the stream, if any. */
  get signal(): AbortSignal {
    return extrasOf(this.#streamCore).signal;
  }

  /** Emits {@link replyHeaders} when they come, and replays them to late subscribers. Completes without a value if the stream ends first. */
  get replyHeaders$(): Observable<Readonly<Metadata>> {
    return extrasOf(this.#streamCore).replyHeaders$;
  }

  /** Resolves with the cause of the stream's end; never rejects. */
  get closed(): Promise<CloseCause> {
    return extrasOf(this.#streamCore).closed;
  }

  /**
   * Sends this side's headers ahead of the first value, on a stream that the remote opened (S4). Does nothing if neither the call nor an
   * interceptor has headers. Also does nothing after this side's first frame, or on a stream that this side opened.
   *
   * @throws TypeError for headers that are not a plain object or that the codec cannot represent; ProtocolError for headers that
   *   do not fit a frame; errors of a reply-headers interceptor
   *
   * @example
   * ```ts
   * stream.sendHeaders({ total: 1_200 });
   * // at the opener, ahead of any value: stream.replyHeaders is { total: 1200 }
   * ```
   */
  sendHeaders(headers?: MetadataInput): void {
    sendHeaders(this.#streamCore, headers);
  }

  /**
   * Sends one value.
   *
   * @returns a promise that resolves once the stream's queue is below 256 KiB and the queues of all streams are below
   *   `sendHighWaterBytes`. In the common case it resolves at once. It rejects if the stream can take no value any more:
   *
   *   - with the error that ended the stream
   *   - with a ProtocolError after this side's end
   *   - with a CancelledError while the peer closes
   *   - with a QueueOverflowError if too many bytes are queued (`maxUnsentBytes`; without a connection `maxQueuedBytes`); this error
   *     ends the stream
   *
   *   The rejection need not be handled.
   * @throws TypeError for `undefined` and `ABSENT`, for a value the codec cannot represent and for headers that come too late;
   *   ProtocolError for headers that do not fit a frame; errors of a reply-headers interceptor
   *
   * @example
   * ```ts
   * for (const row of rows) await stream.send(row);   // no faster than the socket takes them
   * ```
   */
  send(value: Out, options: SendOptions = {}): Promise<void> {
    checkValue(value);
    checkOptions(options, SEND_NAMES);
    return send(this.#streamCore, value, false, options.headers);
  }

  /**
   * Sends the values of any Observable, promise, iterable, async iterable or ReadableStream, and then the end. It pulls iterables and streams
   * as the queue drains; other Observables push.
   *
   * If the stream ends before its input, it cancels and unlocks a ReadableStream, and destroys a stream of Node. The HTTP request that a
   * server answers, though, only ends at its next chunk. An async generator only ends at its next value, because no generator can be stopped
   * while it waits. A generator that waits for long should listen to {@link signal}, or be an Observable.
   *
   * @param options `end: false` leaves this side of the stream open after the last value; `overflow` decides about a value pushed
   *   while the queue is full
   * @returns a promise that resolves once the stream has accepted all values. It also resolves if the remote resets with NO_ERROR
   *   because it needs no more. It rejects:
   *
   *   - with the input's error, which has reset the stream (for `undefined` and `null`, with that reset as a ResetError)
   *   - with the error that ended the stream
   *   - with a ProtocolError if this side was ended before the input, as by a handler that did not return this promise; with
   *     `end: false` only if a further value came
   *
   *   The rejection need not be handled.
   * @throws TypeError for an unknown `overflow`
   *
   * @example
   * ```ts
   * // once 256 KiB wait and the socket is full, only the newest price; for few and new ones from the first on, see withCredit
   * peer.onStream((_, stream) => stream.sendAll(prices$, { overflow: 'latest' }));
   * ```
   */
  sendAll(input: Source<Out> | Blob, options: FeedOptions = {}): Promise<void> {
    return sendAll(this.#streamCore, input, options);
  }

  /**
   * Sets the trailers, which leave once with this side's end. `reply`, `end`, `sendAll` or a settled handler sends the end. The call that ends
   * this side calls a trailers function; its `null` means none. A later call of `setTrailers` replaces the trailers. Trailers of `reply` or
   * `end` take precedence. After the end the call does nothing.
   *
   * Never throws. Trailers that cannot be sent, or a function that throws, make `reply` and `end` throw. Elsewhere they reset the stream, like
   * a handler that throws.
   *
   * @example
   * ```ts
   * stream.setTrailers({ rows: 2 });
   * await stream.sendAll(['a', 'b']);
   * // at the opener, after 'b': stream.trailers is { rows: 2 }
   * ```
   */
  setTrailers(trailers: MetadataInput | (() => MetadataInput | null)): void {
    extrasOf(this.#streamCore).trailers = trailers;
  }

  /**
   * Sends one last value and the end. Without a value, or with `undefined`, it sends no payload; `null` is a payload.
   *
   * @returns a promise like the promise of {@link send}; after the end the value is lost, with a ProtocolError and one warning.
   * @throws TypeError for a value or metadata that the codec cannot represent and for headers that come too late; ProtocolError
   *   for headers or trailers that do not fit a frame; errors of a reply-headers interceptor or a function of `setTrailers`
   *
   * @example
   * ```ts
   * peer.onStream((name, stream) => stream.reply(`hello ${name}`, { trailers: { rows: 1 } }));
   * // at the remote: await peer.request('you') returns 'hello you'
   * ```
   */
  reply(value?: Out, options: ReplyOptions = {}): Promise<void> {
    checkOptions(options, REPLY_NAMES);
    return send(this.#streamCore, value, true, options.headers, options.trailers);
  }

  /**
   * Ends this side of the stream without a value. The remote's side may go on (S2).
   *
   * @returns a promise like the promise of {@link reply}
   * @throws the same as {@link reply}, for trailers
   *
   * @example
   * ```ts
   * await stream.end({ trailers: { rows: 2 } });
   * // sends {"type":"data","stream":1,"end":true,"trailers":{"rows":2}}
   * ```
   */
  end(options: EndOptions = {}): Promise<void> {
    checkOptions(options, END_NAMES);
    return send(this.#streamCore, undefined, true, undefined, options.trailers);
  }

  /** Reads one payload at a time. A `break` leaves the stream, like the last unsubscribe. */
  [Symbol.asyncIterator](): AsyncIterableIterator<In> {
    return new StreamIterator<In>(this.#streamCore);
  }
}

// One function for all streams, because a closure for each would make up a good part of an idle stream's memory.
function read(this: Observable<unknown>, subscriber: Subscriber<unknown>): TeardownLogic {
  return this instanceof Stream ? Stream.streamCore(this).passTo(subscriber) : undefined;
}
