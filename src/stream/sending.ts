import { log } from '../logger.js';
import { encodedPayload } from '../peer/stream/encoded-payload.js';
import type { EncodedPayload } from '../peer/stream/encoded-payload.js';
import { report } from '../peer/stream/failures.js';
import { hasRoom, overflowsWith, whenRoom } from '../peer/stream/room.js';
import { sendable } from '../peer/stream/sendable.js';
import type { StreamCore } from '../peer/stream/stream-core.js';
import { extrasOf } from '../peer/stream/stream-extras.js';
import { guard } from '../rx/guard.js';
import { endedHere } from '../session/base/close-cause.js';
import { aboutStream } from '../wire/about-stream.js';
import { ABSENT } from '../wire/frame.js';
import type { Frame, Metadata, MetadataInput } from '../wire/frame.js';
import { chargeOfPart } from '../wire/held-bytes.js';
import { CancelledError, QueueOverflowError } from '../wire/stream-errors.js';
import { violation } from '../wire/violation.js';
import { copyMetadata, freezeMetadata } from './metadata.js';
import { rejected, unheeded } from './promises.js';

/** Trailers, or a function that returns them. The stream calls the function when it sends its end. */
export type TrailersInput = MetadataInput | (() => MetadataInput | null);

const LATE_VALUE = 'a value was sent after the end and is lost';
const LATE_ANSWER = `${LATE_VALUE}; to answer later than the handler settles, return a promise from it or use respond()`;
const READY: Promise<void> = Promise.resolve();
/** The advice for each way to send. */
const TOO_MUCH =
  'too much is queued (maxUnsentBytes): await send(), set the option overflow of an input that pushes, or send an input that is pulled';

/** Returns the sending side of a stream, made on first use. */
export function outboxOf(stream: StreamCore): Outbox {
  return (stream.outbox ??= new Outbox(stream));
}

/** The sending side of one stream: its headers, values and trailers, and the senders that wait for room. */
export class Outbox {
  /** Whether this side's first frame, which carries headers, has left. */
  begun: boolean;
  /** Whether the outbox has accepted a value or this side's end. */
  replied = false;
  /**
   * State of the reply-headers interceptors. `done`: they ran in a `sendHeaders` that had nothing to send. They do not run again for a value
   * without headers.
   */
  #interceptors: 'due' | 'running' | 'done' | 'failed' = 'due';
  #trailers: TrailersInput | null = null;

  constructor(private readonly stream: StreamCore) {
    this.begun = stream.local;
  }

  setTrailers(trailers: TrailersInput): void {
    this.#trailers = trailers;
  }

  /** @throws errors of an interceptor or the codec */
  sendHeaders(headers?: MetadataInput): void {
    if (this.begun || this.refusal() !== null) return;
    const first = this.#firstHeaders(headers);
    this.#interceptors = 'done';
    if (first !== null) this.#transmit({ type: 'data', headers: first }, encodedPayload(this.stream.host.codec, ABSENT));
  }

  /** Sends the interceptors' headers ahead of a reset, if the interceptors have not run. Logs an interceptor's error. */
  sendHeadersOfFailure(): void {
    if (this.#interceptors === 'due')
      guard('a reply-headers interceptor', () => {
        this.sendHeaders();
      });
  }

  /** {@link accept} as a promise. Resolves once the stream's queue is short, or rejects with the error that ended the stream. */
  send(value: unknown, headers?: MetadataInput): Promise<void> {
    return this.#readyUnless(this.accept(value, headers));
  }

  /** {@link acceptLast} as a promise, like {@link send}. */
  sendLast(value?: unknown, headers?: MetadataInput, trailers?: TrailersInput): Promise<void> {
    return this.#readyUnless(this.acceptLast(value, headers, trailers));
  }

  /**
   * Queues a value. Returns `null`, or the error of a refused value.
   *
   * @throws TypeError for headers after this side's first frame; errors of the codec or an interceptor
   */
  accept(value: unknown, headers?: MetadataInput): unknown {
    return this.#accept(value, headers, false);
  }

  /**
   * Queues the end, with or without a last value. Returns `null`, or the error of a refused end.
   *
   * @throws the same as {@link accept}, and errors of the trailers
   */
  acceptLast(value?: unknown, headers?: MetadataInput, trailers?: TrailersInput): unknown {
    return this.#accept(value, headers, true, trailers);
  }

  #accept(value: unknown, headers: MetadataInput | undefined, end: boolean, trailers?: TrailersInput): unknown {
    const early = this.refusal();
    if (early !== null) return early;
    const payload = encodedPayload(this.stream.host.codec, value);
    const overflow = this.#overflow(payload);
    if (overflow !== null) return overflow;
    const last = end ? this.#asMetadata(trailers ?? this.#trailers) : null;
    const frame = { type: 'data', payload: payload.value, headers: this.#firstHeaders(headers), end, trailers: last };
    // Code in the value, in the metadata or in interceptors may have ended the stream.
    const late = this.refusal();
    if (late !== null) return late;
    this.#transmit(frame, payload);
    return null;
  }

  #readyUnless(refusal: unknown): Promise<void> {
    const { stream } = this;
    if (refusal !== null) return rejected(refusal);
    if (hasRoom(stream)) return READY;
    const room = new Promise<void>((resolve) => {
      whenRoom(stream, resolve);
    });
    return unheeded<void>((resolve, fail) => {
      // A reset frees the queue too; `stream.error` is set one microtask later.
      void room.then(() => {
        if (stream.error === null) resolve();
        else fail(stream.error);
      });
    });
  }

  /** Returns the error of an attempt to send now, or `null` if the stream may send. */
  refusal(): unknown {
    const { stream } = this;
    if (!stream.sealed) return null;
    const streamId = stream.id;
    const { cause, error } = stream;
    if (error !== null && !endedHere(cause)) return error;
    const { now } = stream.host.status;
    if (now.state === 'draining' && now.by === 'local') return new CancelledError('the peer is closing', { streamId });
    if (extrasOf(stream).takeWarning()) {
      log('warn', aboutStream(streamId, stream.local ? LATE_VALUE : LATE_ANSWER));
    }
    return violation(streamId, 'expected nothing to be sent after the end');
  }

  #overflow({ encoded }: EncodedPayload): Error | null {
    // A bare end takes no room. An overflow must not destroy the answer before it.
    if (encoded === null) return null;
    const { stream } = this;
    const { id, unsent } = stream;
    // The common case measures nothing.
    if (!overflowsWith(stream, Infinity) || !overflowsWith(stream, chargeOfPart(encoded))) return null;
    const error = new QueueOverflowError(TOO_MUCH, { streamId: id, retriable: unsent });
    stream.cancel('the sender overflowed its queue', error);
    // Report the error: a queue overflows when callers ignore the promise of `send`.
    if (!stream.local) report(error, stream);
    return error;
  }

  #transmit(fields: Frame, payload: EncodedPayload): void {
    const { stream } = this;
    const frame = sendable(stream.host, fields, payload, stream.id);
    this.begun = true;
    if (payload.encoded !== null || frame.end) this.replied = true;
    stream.markTaken();
    stream.send(frame);
  }

  /** Returns the headers of this side's first frame; `null` after that frame, or for no headers. */
  #firstHeaders(headers: MetadataInput | undefined): Readonly<Metadata> | null {
    if (this.begun && headers === undefined) return null;
    const { host, local } = this.stream;
    if (headers === undefined && (host.hooks.replyHeaders.entries.length === 0 || this.#interceptors === 'done')) return null;
    const copy = copyMetadata(headers);
    if (!this.begun && host.hooks.replyHeaders.entries.length > 0) this.#intercept(copy);
    const first = this.begun ? null : freezeMetadata(copy, host.codec);
    // A header value may itself send the first frame while it is encoded.
    if (!this.begun) return first;
    if (Object.keys(copy).length > 0)
      throw new TypeError(`expected headers with the ${local ? 'open' : 'first frame'} only, got some after it`);
    return null;
  }

  /** Calls the interceptors, which may change the headers of the first frame. */
  #intercept(headers: Metadata): void {
    if (this.#interceptors === 'running')
      throw new TypeError(
        'expected a reply-headers interceptor to send nothing on its stream, whose first frame it is asked about, got a send',
      );
    const before = this.#interceptors;
    this.#interceptors = 'running';
    try {
      for (const { hook } of this.stream.host.hooks.replyHeaders.entries) hook(headers, this.stream.facade);
      this.#interceptors = before;
    } catch (error) {
      this.#interceptors = 'failed';
      throw error;
    }
  }

  #asMetadata(given: TrailersInput | null): Readonly<Metadata> | null {
    if (given === null) return null;
    const trailers = typeof given === 'function' ? (given as () => MetadataInput | null)() : given;
    return freezeMetadata(trailers, this.stream.host.codec, 'trailers');
  }
}
