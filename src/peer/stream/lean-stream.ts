import { Observable } from 'rxjs';
import type { Observer, Subscriber, Subscription, TeardownLogic } from 'rxjs';
import type { CloseCause } from '../../session/base/close-cause.js';
import type { StreamPhase } from '../../stream/state.js';
import { optionError } from '../../wire/check.js';
import { ABSENT } from '../../wire/frame.js';
import type { Metadata } from '../../wire/frame.js';
import { checkReset } from '../../wire/check.js';
import { ResetCode } from '../../wire/codes.js';
import { ResetError } from '../../wire/stream-errors.js';
import { subscriberOf } from '../../rx/guarded-observable.js';
import { labelled } from '../../stream/label.js';
import { resetPayload } from './sendable.js';
import type { StreamCore } from './stream-core.js';

const OTHER_COPY = 'expected a stream of this copy of rxmux, got one of another: the package is there twice';

/**
 * The reading side of a stream: an Observable of the received payloads, with its headers, its end and {@link reset}. A stream of `rxmux` also
 * has the methods that send; `rxmux/lean` has them as functions.
 *
 * @typeParam In the type of received payloads
 *
 * @example
 * ```ts
 * const stream = peer.open<number>({ op: 'count' }, { end: true });
 * stream.pipe(take(3)).subscribe(console.log);   // 1, 2, 3, and then the server's producer is cancelled
 * ```
 */
export class LeanStream<In = unknown> extends Observable<In> {
  readonly #streamCore: StreamCore;

  protected constructor(streamCore: StreamCore) {
    super(read);
    this.#streamCore = streamCore;
  }

  /** @internal */
  static around(streamCore: StreamCore): LeanStream {
    return new this(streamCore);
  }

  /** @internal */
  static streamCore(stream: LeanStream): StreamCore {
    if (typeof stream === 'object' && (stream as unknown) !== null && #streamCore in stream) return stream.#streamCore;
    const isOther = typeof (stream as Partial<LeanStream> | null | undefined)?.subscribe === 'function';
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
    return labelled(this.#streamCore.host.options.label, this.payload);
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
   * @param payload sent along; left out if the codec cannot represent it.
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
    if (stream.closed) return;
    if (code === ResetCode.REFUSED && stream.begun)
      throw new TypeError('reset: expected another code than REFUSED, which vouches that nothing was done, on a stream that has begun');
    // For CANCEL the cause alone yields the right error.
    const error = code === ResetCode.CANCEL ? undefined : new ResetError(code, reason, payload ?? null, { streamId: stream.id });
    stream.markTaken();
    stream.reset('user', code, reason, { payload, encodedPayload: resetPayload(stream.host, payload, stream.id), error });
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
}

// One function for all streams, because a closure for each would make up a good part of an idle stream's memory.
function read(this: Observable<unknown>, subscriber: Subscriber<unknown>): TeardownLogic {
  return this instanceof LeanStream ? LeanStream.streamCore(this).inbox.subscribe(subscriber) : undefined;
}
