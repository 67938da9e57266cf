import type { CloseCause } from '../session/close-cause.js';
import { causeError } from '../session/close-cause.js';
import type { StreamLine, StreamSink } from '../session/live-stream.js';
import { LiveStream } from '../session/live-stream.js';
import type { StreamPhase } from '../session/stream-state.js';
import { CancelledError, DeadlineExceededError, ProtocolError, QueueOverflowError, ResetError } from '../wire/errors.js';
import type { StreamError } from '../wire/errors.js';
import { ABSENT } from '../wire/frame.js';
import type { CompleteFrame, Metadata, MetadataInput } from '../wire/frame.js';
import { ResetCode } from '../wire/reset-code.js';
import { logger } from '../logger.js';
import type { Deadlined } from './deadlines.js';
import type { PeerCore } from './peer-core.js';
import { failureOf } from './failure.js';
import { rejected } from './guard.js';
import { Inbox } from './inbox.js';
import type { InboxStream } from './inbox.js';
import { copyMetadata, freezeMetadata } from './metadata.js';
import { Stream } from './stream.js';
import { StreamExtras } from './stream-extras.js';

const NO_HEADERS: Readonly<Metadata> = Object.freeze({});
const READY: Promise<void> = Promise.resolve();

/** What a call or a handler opened a stream with. */
export interface StreamStart {
  readonly local: boolean;
  readonly headers: Readonly<Metadata> | null;
  /** `ABSENT` when the stream was opened without one. */
  readonly payload: unknown;
}

/**
 * One stream as its user has it, without the Observable around it: what came in, what may go out, and how it ended. A
 * `Stream` is made around it when somebody asks for one.
 */
export class StreamCore implements StreamSink, InboxStream, Deadlined {
  readonly inbox: Inbox<unknown> = new Inbox(this);
  replyHeaders: Readonly<Metadata> | null = null;
  trailers: Readonly<Metadata> | null = null;
  cause: CloseCause | null = null;
  #stream: Stream | null = null;
  #extras: StreamExtras | null = null;
  #trailersToSend: MetadataInput | (() => MetadataInput | null) | null = null;
  /** Whether this side's first frame has gone, which is the one that carries headers. */
  #begun: boolean;
  #taken: boolean;
  /** What a consumer sees instead of the plain error of the cause: this side knows more about its own resets. */
  #error: unknown = null;
  /** Lifts the deadline and lets go of the caller's signal. */
  #releases: (() => void)[] | null = null;

  constructor(
    readonly core: PeerCore,
    readonly start: StreamStart,
    public line: StreamLine,
  ) {
    this.#begun = start.local;
    this.#taken = start.local;
  }

  get stream(): Stream {
    return (this.#stream ??= Stream.around(this));
  }

  get extras(): StreamExtras {
    return (this.#extras ??= new StreamExtras(this));
  }

  get headers(): Readonly<Metadata> {
    return this.start.headers ?? NO_HEADERS;
  }

  get phase(): StreamPhase {
    return this.line.phase;
  }

  /** The error that ended the stream; `null` while it is live, and where it simply ended. */
  get error(): unknown {
    return this.#error ?? (this.cause === null ? null : causeError(this.cause, this.line.id, this.line.unsent));
  }

  /** Whether somebody has begun to use a stream that the remote opened. */
  get isTaken(): boolean {
    return this.#taken;
  }

  /** Runs `task` when the stream is gone, before anybody is told. */
  onRelease(task: () => void): void {
    (this.#releases ??= []).push(task);
  }

  // From the connection

  receive(frame: CompleteFrame): void {
    if (this.start.local && this.replyHeaders === null) this.#firstFrame(frame.headers);
    if (frame.end) this.trailers = frame.trailers;
    if (frame.payload !== ABSENT) this.inbox.next(frame.payload);
    if (frame.end) this.inbox.finish(null);
  }

  gone(cause: CloseCause, error?: unknown): void {
    this.cause = cause;
    this.#error ??= error;
    for (const release of this.#releases ?? []) release();
    this.#releases = null;
    this.inbox.finish(this.error);
    this.#extras?.gone(cause);
  }

  // From the inbox

  keep(bytes: number): boolean {
    return this.line.keep(bytes);
  }

  read(bytes: number): void {
    this.line.read(bytes);
  }

  get arrivedBytes(): number {
    return this.line.arrivedBytes;
  }

  taken(): void {
    if (this.#taken) return;
    this.#taken = true;
    if (this.line instanceof LiveStream) this.line.taken();
  }

  abandoned(): void {
    if (this.start.local) this.unsubscribed();
  }

  // From the user

  /** @throws TypeError for headers behind this side's first frame, and whatever a codec or interceptor throws */
  sendHeaders(headers?: MetadataInput): void {
    if (this.#stateError() !== null || this.#begun) return;
    const first = this.#firstHeaders(headers);
    if (first === null) return;
    this.#transmit(ABSENT, first, false);
  }

  send(value: unknown, headers: MetadataInput | undefined, end: boolean): Promise<void> {
    const error = this.#stateError() ?? this.#overflow();
    if (error !== null) return rejected(error);
    this.#transmit(value, headers, end);
    return this.ready();
  }

  setTrailers(trailers: MetadataInput | (() => MetadataInput | null)): void {
    this.#trailersToSend = trailers;
  }

  /** Resolves at once while the stream's queue is short; else when it is, or with the error that ended the stream. */
  ready(): Promise<void> {
    if (this.line.hasRoom) return READY;
    const ready = new Promise<void>((resolve) => {
      this.line.whenRoom(() => {
        const { error } = this;
        resolve(error === null ? undefined : rejected(error));
      });
    });
    ready.catch(() => undefined);
    return ready;
  }

  reset(code: ResetCode, reason: string, payload: unknown): void {
    if (this.cause !== null) return;
    const streamId = this.line.id;
    this.#error =
      code === ResetCode.CANCEL
        ? new CancelledError(reason === '' ? 'cancelled' : reason, { streamId })
        : new ResetError(code, reason, payload ?? null, { streamId });
    this.taken();
    this.line.reset('user', code, reason, payload ?? null, this.core.resetPayload(payload, streamId));
  }

  /** Resets the stream because this side is no longer interested; consumers see `error`. */
  cancel(reason: string, error: StreamError): void {
    if (this.cause !== null) return;
    this.#error = error;
    this.line.reset('user', ResetCode.CANCEL, reason);
  }

  unsubscribed(): void {
    this.cancel('unsubscribed', new CancelledError('unsubscribed', { streamId: this.line.id }));
  }

  expire(timeoutMs: number): void {
    if (this.cause !== null) return;
    this.#error = new DeadlineExceededError(timeoutMs, { streamId: this.line.id });
    this.line.reset('library', ResetCode.DEADLINE_EXCEEDED, `not done within ${timeoutMs} ms`);
  }

  /** Resets the stream with what a handler or an input threw. */
  fail(error: unknown): void {
    if (this.cause !== null) return;
    const { code, reason, payload } = failureOf(error, this.core.options.errorSerializer, this.#begun);
    this.#error = error;
    this.line.reset('user', code, reason, payload, this.core.resetPayload(payload, this.line.id));
  }

  #firstFrame(headers: Readonly<Metadata> | null): void {
    this.replyHeaders = headers === null ? NO_HEADERS : Object.freeze(headers);
    if (!this.core.hooks.incomingHeaders.empty) this.core.hooks.arrived(this.replyHeaders, this.stream);
    this.#extras?.headersArrived(this.replyHeaders);
  }

  #firstHeaders(headers: MetadataInput | undefined): Metadata | null {
    const copy = copyMetadata(headers);
    if (!this.core.hooks.replyHeaders.empty) this.core.hooks.replying(copy, this.stream);
    return Object.keys(copy).length === 0 ? null : copy;
  }

  #transmit(value: unknown, headers: MetadataInput | undefined, end: boolean): void {
    const { codec } = this.core;
    if (this.#begun && headers !== undefined && this.start.local)
      throw new TypeError(`expected no headers on a stream that this side opened, got some: they go with open()`);
    const encoded = value === ABSENT ? null : codec.encodePayload(value);
    const trailers = end ? this.#takeTrailers() : null;
    const first = this.#begun ? null : this.#firstHeaders(headers);
    const frame = {
      type: 'data',
      payload: value,
      headers: first === null ? null : freezeMetadata(first, codec),
      end,
      trailers: trailers === null ? null : freezeMetadata(copyMetadata(trailers), codec),
    };
    this.core.checkSendable(frame, encoded, this.line.id);
    this.#begun = true;
    this.taken();
    this.line.send(frame, encoded);
  }

  #overflow(): Error | null {
    if (!this.line.overflows) return null;
    const error = new QueueOverflowError('too much is queued: wait for the promise of send() before the next', { streamId: this.line.id });
    this.cancel('the sender overflowed its queue', error);
    return error;
  }

  #takeTrailers(): MetadataInput | null {
    const trailers = this.#trailersToSend;
    return typeof trailers === 'function' ? (trailers as () => MetadataInput | null)() : trailers;
  }

  #stateError(): Error | null {
    if (!this.line.sealed) return null;
    const streamId = this.line.id;
    const { error } = this;
    if (error instanceof Error) return error;
    if (this.extras.warn()) {
      logger.warn(
        `rxmux: stream ${String(streamId)}: a value was sent after the end and is lost; to answer later than the handler settles, return a promise from it or use respond()`,
      );
    }
    return new ProtocolError(`stream ${String(streamId)}: expected nothing to be sent after the end`);
  }
}
