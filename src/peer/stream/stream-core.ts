import type { Unsubscribable } from 'rxjs';
import type { CloseCause } from '../../session/base/close-cause.js';
import { causeError } from '../../session/base/close-cause.js';
import type { Unsent } from '../../session/send/backlog.js';
import { LiveStream } from '../../stream/stream-core.js';
import { CancelledError, DeadlineExceededError } from '../../wire/stream-errors.js';
import type { StreamError } from '../../wire/stream-errors.js';
import { ABSENT } from '../../wire/frame.js';
import type { CompleteFrame, Metadata } from '../../wire/frame.js';
import { ResetCode } from '../../wire/codes.js';
import type { Deadline, Deadlined } from '../../stream/deadlines.js';
import { deliverEnd, COMPLETED } from './stream-end.js';
import type { End } from './stream-end.js';
import { Inbox } from './inbox.js';
import type { Reader } from './inbox.js';
import type { Outbox } from '../../stream/sending.js';
import type { Abortable } from './abort-signals.js';
import type { Stream } from '../../stream/stream.js';
import type { StreamExtras } from './stream-extras.js';
import type { StreamHost } from './stream-host.js';

const NO_HEADERS: Readonly<Metadata> = Object.freeze({});

/**
 * One stream as its user sees it, without the Observable around it: received payloads, the sending side, and the end. Most streams need few of
 * these parts, so each part is created on first access.
 */
export class StreamCore extends LiveStream implements Deadlined, Abortable, Unsubscribable {
  /** The headers of the open; empty if it had none. */
  headers: Readonly<Metadata>;
  replyHeaders: Readonly<Metadata> | null = null;
  trailers: Readonly<Metadata> | null = null;
  /** Receives everything from the first payload on, without the inbox. */
  reader: Reader | null = null;
  /** Made by `outboxOf`, once this side sends more than the open. */
  outbox: Outbox | null = null;
  /** Made by `extrasOf`. */
  extras: StreamExtras | null = null;
  #inbox: Inbox | null = null;
  #facade: Stream | null = null;
  /** Whether a user has taken the stream. A stream of this side counts as taken. */
  isTaken: boolean;
  /** The error that came with the cause, or is created from the cause on access. */
  #error: unknown = null;
  /** Whether the remote has ended and its last payload was delivered. */
  #completed = false;
  #deadline: Deadline | null = null;
  #signal: AbortSignal | null = null;

  /**
   * @param opening the headers of the open
   * @param payload the payload of the open; `ABSENT` if it had none
   */
  constructor(
    readonly host: StreamHost,
    local: boolean,
    isNotification: boolean,
    opening: Readonly<Metadata> | null,
    public payload: unknown,
  ) {
    super(local, isNotification);
    this.headers = opening ?? NO_HEADERS;
    this.isTaken = local;
  }

  get inbox(): Inbox {
    return (this.#inbox ??= new Inbox(this));
  }

  /** Whether this side's first frame, which carries headers, has left. */
  get begun(): boolean {
    return this.outbox?.begun ?? this.local;
  }

  /** Whether the stream has a reader or a subscriber. */
  get hasReader(): boolean {
    return this.reader !== null || this.#inbox?.hasSubscriber === true;
  }

  /** The user's Observable of this stream, created on access. */
  get facade(): Stream {
    return (this.#facade ??= this.host.makeStream(this) as Stream);
  }

  /** Names the stream and its peer in the log. */
  get label(): string {
    return `${this.host.label}, stream ${this.id ?? 'without an id'}`;
  }

  /** The error that ended the stream; `null` while it is live, or if it ended without one. */
  get error(): unknown {
    return (this.#error ??= this.cause === null ? null : causeError(this.cause, this.id, this.unsent));
  }

  /** The end of the payloads; `null` while more may follow. */
  get end(): End | null {
    if (this.#completed) return COMPLETED;
    return this.cause === null ? null : this;
  }

  /**
   * Delivers every payload from the first on to `reader`, without an Inbox. Returns this object as the reader's subscription, which saves one
   * object per stream.
   */
  readBy(reader: Reader): Unsubscribable {
    this.markTaken();
    // Payloads may already wait, because `onOpen` runs before the call reads.
    for (let unread = this.#inbox?.shift(); unread !== undefined; unread = this.#inbox?.shift()) reader.next(unread.value);
    this.reader = reader;
    if (this.end !== null) deliverEnd(reader, this.end);
    return this;
  }

  /** The reader leaves. Without a subscriber, the reader was the last one. */
  unsubscribe(): void {
    this.reader = null;
    if (this.#inbox !== null) this.#inbox.checkLeft();
    else if (this.end === null) this.lastReaderLeft();
  }

  /** Resets the stream if it takes longer than `timeoutMs`. 0 and `Infinity` mean no limit. */
  limit(timeoutMs: number): void {
    if (this.cause !== null) return;
    this.#deadline = this.host.deadlines.add(this, timeoutMs);
  }

  /** Cancels the stream when `signal` aborts. */
  cancelWith(signal: AbortSignal): void {
    if (signal.aborted) this.aborted(signal.reason);
    if (this.cause !== null) return;
    this.#signal = signal;
    this.host.signals.add(signal, this);
  }

  aborted(reason: unknown): void {
    this.cancel('aborted', new CancelledError('aborted', { streamId: this.id, cause: reason }));
  }

  // Called by the connection

  accept(open: CompleteFrame): void {
    if (open.headers !== null) this.headers = Object.freeze(open.headers);
    this.payload = open.payload;
    if (open.end) {
      this.trailers = open.trailers;
      this.finish();
    }
    this.host.accept(this);
  }

  receive(frame: CompleteFrame): void {
    if (this.local && this.replyHeaders === null) this.#firstFrame(frame.headers);
    if (frame.end) this.trailers = frame.trailers;
    if (frame.payload !== ABSENT) this.#deliver(frame.payload);
    // For an end that closes the stream, the cause follows in `gone`.
    if (frame.end && !this.closed) this.finish();
  }

  /** The remote has ended. This side may go on. */
  finish(): void {
    this.#completed = true;
    this.#deliverEnd(COMPLETED);
  }

  gone(cause: CloseCause, error?: unknown): void {
    this.#error = error;
    if (this.#deadline !== null) this.host.deadlines.cancel(this.#deadline);
    if (this.#signal !== null) this.host.signals.remove(this.#signal, this);
    if (!this.#completed) this.#deliverEnd(this);
    this.extras?.gone(cause);
  }

  requeue(unsent: Unsent): boolean {
    const { source, openQueue } = this.host;
    if (!source.expectsSocket) return false;
    openQueue.requeue(this, unsent);
    return true;
  }

  // Called by the inbox

  /** A reader has come, or this side sends, so the stream is in use. */
  markTaken(): void {
    if (this.isTaken) return;
    this.isTaken = true;
    this.taken();
  }

  /** The last reader has left before the end. */
  lastReaderLeft(): void {
    if (this.local) this.cancel();
  }

  // Called by the user

  /** Resets the stream with CANCEL, because this side wants nothing more of it. Consumers see `error`, by default the cause's error. */
  cancel(reason = 'unsubscribed', error?: StreamError): void {
    this.reset('user', ResetCode.CANCEL, reason, error === undefined ? undefined : { error });
  }

  expire(timeoutMs: number): void {
    const error = deadlineError(timeoutMs, this);
    this.reset('library', ResetCode.DEADLINE_EXCEEDED, `not done within ${timeoutMs} ms`, { error });
  }

  #deliver(payload: unknown): void {
    if (this.end !== null) return;
    if (this.#inbox === null && this.reader !== null) this.reader.next(payload);
    else this.inbox.next(payload);
  }

  #deliverEnd(end: End): void {
    if (this.#inbox !== null) this.#inbox.finish(end);
    else if (this.reader !== null) deliverEnd(this.reader, end);
  }

  #firstFrame(headers: Readonly<Metadata> | null): void {
    this.replyHeaders = headers === null ? NO_HEADERS : Object.freeze(headers);
    const { incomingHeaders } = this.host.hooks;
    for (const { hook } of incomingHeaders.entries) hook(this.replyHeaders, this.facade);
    this.extras?.headersArrived(this.replyHeaders);
  }
}

/** Returns the error of a call that missed its deadline. For an unsent call the error names the cause, and a retry is safe. */
function deadlineError(timeoutMs: number, { id, unsent, host }: StreamCore): DeadlineExceededError {
  if (!unsent) return new DeadlineExceededError(timeoutMs, { streamId: id });
  if (id !== null) return new DeadlineExceededError(timeoutMs, { streamId: id, unsent: 'the connection took nothing more' });
  const { reason, error } = host.source.absence;
  return new DeadlineExceededError(timeoutMs, { unsent: reason, ...(error === null ? {} : { cause: error }) });
}
