import { log } from '../../logger.js';
import { endedHere } from '../../session/base/close-cause.js';
import { aboutStream } from '../../wire/about-stream.js';
import type { Message } from '../../wire/codec.js';
import { CancelledError, QueueOverflowError } from '../../wire/stream-errors.js';
import { ABSENT } from '../../wire/frame.js';
import type { Metadata, MetadataInput } from '../../wire/frame.js';
import { chargeOfPart } from '../../wire/held-bytes.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import { violation } from '../../wire/violation.js';
import { report } from './failures.js';
import { guard } from '../../rx/guard.js';
import { rejected, unheeded } from '../base/caller-frames.js';
import { copyMetadata, freezeMetadata } from '../base/metadata.js';
import { checkSendable } from './sendable.js';
import { encodedBy, valueOf } from './shared-payload.js';
import type { StreamCore } from './stream-core.js';

/** Trailers, or a function that is asked for them when the end is sent. */
export type TrailersInput = MetadataInput | (() => MetadataInput | null);

const LATE_VALUE = 'a value was sent after the end and is lost';
const LATE_ANSWER = `${LATE_VALUE}; to answer later than the handler settles, return a promise from it or use respond()`;
const READY: Promise<void> = Promise.resolve();
/** What can be done about it, by each way to send. */
const TOO_MUCH =
  'too much is queued (maxUnsentBytes): wait for the promise of send(), give an input that pushes the option overflow, or send one that is pulled';

/** The sending side of one stream: its headers, its values, its trailers, and who waits for room. */
export class Outbox {
  /** Whether this side's first frame has gone, which is the one that carries headers. */
  begun: boolean;
  /** Whether a value or the end of this side was accepted. */
  replied = false;
  /** Of the reply-headers interceptors. `done`: in a `sendHeaders` that had nothing to send; they do not run again for a value without headers. */
  #interceptors: 'due' | 'running' | 'done' | 'failed' = 'due';
  #trailers: TrailersInput | null = null;

  constructor(private readonly stream: StreamCore) {
    this.begun = stream.local;
  }

  setTrailers(trailers: TrailersInput): void {
    this.#trailers = trailers;
  }

  /** @throws what an interceptor or the codec throws */
  sendHeaders(headers?: MetadataInput): void {
    if (this.begun || this.refusal() !== null) return;
    const first = this.#firstHeaders(headers);
    this.#interceptors = 'done';
    if (first !== null) this.#transmit(new OutgoingFrame({ type: 'data', headers: first }, null), null);
  }

  /** Sends the interceptors' headers ahead of a reset, where they have not run. An interceptor that throws is logged. */
  sendHeadersOfFailure(): void {
    if (this.#interceptors === 'due')
      guard('a reply-headers interceptor', () => {
        this.sendHeaders();
      });
  }

  /** {@link accept} as a promise: resolves at once while the stream's queue is short; else when it is, or with the error that ended the stream. */
  send(value: unknown, headers?: MetadataInput): Promise<void> {
    return this.#readyUnless(this.accept(value, headers));
  }

  /** {@link acceptLast} as a promise, like {@link send}. */
  sendLast(value?: unknown, headers?: MetadataInput, trailers?: TrailersInput): Promise<void> {
    return this.#readyUnless(this.acceptLast(value, headers, trailers));
  }

  /**
   * Queues a value; gives why not, if not.
   *
   * @throws TypeError for headers after this side's first frame, and what a codec or an interceptor throws
   */
  accept(value: unknown, headers?: MetadataInput): unknown {
    return this.#accept(value, headers, false);
  }

  /**
   * Queues the end, with a last value or without one; gives why not, if not.
   *
   * @throws as {@link accept} does, and what the trailers throw
   */
  acceptLast(value: unknown = ABSENT, headers?: MetadataInput, trailers?: TrailersInput): unknown {
    return this.#accept(value, headers, true, trailers);
  }

  #accept(value: unknown, headers: MetadataInput | undefined, end: boolean, trailers?: TrailersInput): unknown {
    const early = this.refusal();
    if (early !== null) return early;
    const { codec } = this.stream.host;
    // An end takes no room, and must not destroy the answer before it.
    const encoded = value === ABSENT ? null : encodedBy(codec, value);
    const overflow = encoded === null ? null : this.#overflow(encoded);
    if (overflow !== null) return overflow;
    const last = end ? this.#asMetadata(trailers ?? this.#trailers) : null;
    const frame = { type: 'data', payload: valueOf(value), headers: this.#firstHeaders(headers), end, trailers: last };
    // What has run in the value, in the metadata and in interceptors may have ended the stream.
    const late = this.refusal();
    if (late !== null) return late;
    this.#transmit(new OutgoingFrame(frame, encoded, codec), encoded);
    return null;
  }

  #readyUnless(refusal: unknown): Promise<void> {
    const { stream } = this;
    if (refusal !== null) return rejected(refusal);
    if (stream.line.hasRoom) return READY;
    const room = new Promise<void>((resolve) => {
      stream.line.whenRoom(resolve);
    });
    return unheeded<void>((resolve, fail) => {
      // A reset frees the queue, too; a microtask later `stream.error` is set.
      void room.then(() => {
        if (stream.error === null) resolve();
        else fail(stream.error);
      });
    });
  }

  /** Why nothing can be sent any more, or `null`. */
  refusal(): unknown {
    const { stream } = this;
    if (!stream.line.sealed) return null;
    const streamId = stream.line.id;
    const { cause, error } = stream;
    if (error !== null && !endedHere(cause)) return error;
    const { now } = stream.host.status;
    if (now.state === 'draining' && now.by === 'local') return new CancelledError('the peer is closing', { streamId });
    if (stream.extras.takeWarning()) {
      log('warn', aboutStream(streamId, stream.local ? LATE_VALUE : LATE_ANSWER));
    }
    return violation(streamId, 'expected nothing to be sent after the end');
  }

  #overflow(encoded: Message): Error | null {
    const { stream } = this;
    const { id, unsent } = stream.line;
    // In the common case nothing is measured for it.
    if (!stream.line.overflowsWith(Infinity) || !stream.line.overflowsWith(chargeOfPart(encoded))) return null;
    const error = new QueueOverflowError(TOO_MUCH, { streamId: id, retriable: unsent });
    stream.cancel('the sender overflowed its queue', error);
    // The promise of `send` may be ignored, which is how a queue overflows.
    if (!stream.local) report(error, stream);
    return error;
  }

  #transmit(frame: OutgoingFrame, encodedPayload: Message | null): void {
    const { stream } = this;
    checkSendable(stream.host, frame, encodedPayload, stream.line.id);
    this.begun = true;
    if (encodedPayload !== null || frame.end === true) this.replied = true;
    stream.markTaken();
    stream.line.send(frame);
  }

  /** The headers of this side's first frame; `null` after it, and for none. */
  #firstHeaders(headers: MetadataInput | undefined): Readonly<Metadata> | null {
    if (this.begun && headers === undefined) return null;
    const { host, local } = this.stream;
    if (headers === undefined && (host.hooks.replyHeaders.empty || this.#interceptors === 'done')) return null;
    const copy = copyMetadata(headers);
    if (!this.begun && !host.hooks.replyHeaders.empty) this.#intercept(copy);
    const first = this.begun ? null : freezeMetadata(copy, host.codec);
    // While it is encoded, a value among them may send the first frame itself.
    if (!this.begun) return first;
    if (Object.keys(copy).length > 0)
      throw new TypeError(`expected headers with the ${local ? 'open' : 'first frame'} only, got some after it`);
    return null;
  }

  /** Lets the interceptors change the headers of the first frame. */
  #intercept(headers: Metadata): void {
    if (this.#interceptors === 'running')
      throw new TypeError(
        'expected a reply-headers interceptor to send nothing on its stream, whose first frame it is asked about, got a send',
      );
    const before = this.#interceptors;
    this.#interceptors = 'running';
    try {
      this.stream.host.hooks.replying(headers, this.stream.facade);
      this.#interceptors = before;
    } catch (error) {
      this.#interceptors = 'failed';
      throw error;
    }
  }

  #asMetadata(given: TrailersInput | null): Readonly<Metadata> | null {
    if (given === null) return null;
    const trailers = typeof given === 'function' ? (given as () => MetadataInput | null)() : given;
    return freezeMetadata(copyMetadata(trailers), this.stream.host.codec, 'trailers');
  }
}
