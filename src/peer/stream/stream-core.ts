import type { Unsubscribable } from 'rxjs';
import { log } from '../../logger.js';
import type { CloseCause } from '../../session/base/close-cause.js';
import { causeError } from '../../session/base/close-cause.js';
import type { Unsent } from '../../session/send/backlog.js';
import type { StreamLine, StreamSink } from '../../session/streams/stream-line.js';
import type { StreamPhase } from '../../session/streams/stream-state.js';
import { CancelledError } from '../../wire/stream-errors.js';
import type { StreamError } from '../../wire/stream-errors.js';
import { aboutStream } from '../../wire/about-stream.js';
import { ABSENT } from '../../wire/frame.js';
import type { CompleteFrame, Metadata } from '../../wire/frame.js';
import { ResetCode } from '../../wire/reset-code.js';
import { deadlineError } from './deadline-error.js';
import type { Deadline, Deadlined } from './deadlines.js';
import { deliverEnd, COMPLETED } from './stream-end.js';
import type { End } from './stream-end.js';
import { Inbox } from './inbox.js';
import type { InboxStream, Reader } from './inbox.js';
import { Outbox } from './outbox.js';
import type { Abortable } from './abort-signals.js';
import { Stream } from './stream.js';
import { StreamExtras } from './stream-extras.js';
import type { StreamHost } from './stream-host.js';

const NO_HEADERS: Readonly<Metadata> = Object.freeze({});

/**
 * One stream as its user has it, without the Observable around it: what came in, what may go out, and how it ended. Most
 * streams need little of what a stream can have, so its parts are made when somebody asks for them.
 */
export class StreamCore implements StreamSink, InboxStream<unknown>, Deadlined, Abortable, Unsubscribable {
  replyHeaders: Readonly<Metadata> | null = null;
  trailers: Readonly<Metadata> | null = null;
  /**
   * What ended the stream; `null` while it is live. Set after the phase: while the frame that closes the stream is delivered, `phase`
   * is `closed`, and `cause` and `end` are still `null`.
   */
  cause: CloseCause | null = null;
  reader: Reader<unknown> | null = null;
  #inbox: Inbox<unknown> | null = null;
  #outbox: Outbox | null = null;
  #facade: Stream | null = null;
  #extras: StreamExtras | null = null;
  #taken: boolean;
  /** Came with the cause, or is made of it when somebody asks. */
  #error: unknown = null;
  /** Whether the remote has ended, and its last payload is delivered. */
  #completed = false;
  #deadline: Deadline | null = null;
  #signal: AbortSignal | null = null;

  /**
   * @param opening the headers it was opened with
   * @param payload what it was opened with; `ABSENT` when that was without one
   */
  constructor(
    readonly host: StreamHost,
    public line: StreamLine,
    private readonly opening: Readonly<Metadata> | null,
    readonly payload: unknown,
  ) {
    this.#taken = line.local;
  }

  /** Whether this side opened it. */
  get local(): boolean {
    return this.line.local;
  }

  get inbox(): Inbox<unknown> {
    return (this.#inbox ??= new Inbox(this));
  }

  get outbox(): Outbox {
    return (this.#outbox ??= new Outbox(this));
  }

  /** Whether this side's first frame has gone, which is the one that carries headers. */
  get begun(): boolean {
    return this.#outbox?.begun ?? this.local;
  }

  /** Whether somebody reads. */
  get hasReader(): boolean {
    return this.reader !== null || this.#inbox?.hasSubscriber === true;
  }

  /** What the user holds; made when somebody asks for it. */
  get facade(): Stream {
    return (this.#facade ??= Stream.around(this));
  }

  get extras(): StreamExtras {
    return (this.#extras ??= new StreamExtras(this));
  }

  get headers(): Readonly<Metadata> {
    return this.opening ?? NO_HEADERS;
  }

  get phase(): StreamPhase {
    return this.line.phase;
  }

  /** Names the stream and its peer in the log. */
  get label(): string {
    return `${this.host.label}, stream ${this.line.id ?? 'without an id'}`;
  }

  /** The error that ended the stream; `null` while it is live, and where it simply ended. */
  get error(): unknown {
    return (this.#error ??= this.cause === null ? null : causeError(this.cause, this.line.id, this.line.unsent));
  }

  /** How the payloads end, once nothing follows. */
  get end(): End | null {
    if (this.#completed) return COMPLETED;
    return this.cause === null ? null : this;
  }

  /** Whether somebody has begun to use a stream that the remote opened. */
  get isTaken(): boolean {
    return this.#taken;
  }

  /**
   * Delivers every payload, from the first on, to `reader`, without an Inbox between. Returns itself as the reader's subscription: an
   * object less for each stream.
   */
  readBy(reader: Reader<unknown>): Unsubscribable {
    this.markTaken();
    // Payloads may be waiting already: `onOpen` runs before the call reads.
    for (let unread = this.#inbox?.shift(); unread !== undefined; unread = this.#inbox?.shift()) reader.next(unread.value);
    this.reader = reader;
    if (this.end !== null) deliverEnd(reader, this.end);
    return this;
  }

  /** That reader leaves. Unless somebody else reads, nobody is left. */
  unsubscribe(): void {
    this.reader = null;
    if (this.#inbox !== null) this.#inbox.checkLeft();
    else if (this.end === null) this.lastReaderLeft();
  }

  /** Resets the stream when it takes longer than `timeoutMs`; 0 and `Infinity` are no limit. */
  limit(timeoutMs: number): void {
    if (this.phase === 'closed') return;
    this.#deadline = this.host.deadlines.add(this, timeoutMs);
  }

  /** Cancels the stream when `signal` aborts. */
  cancelWith(signal: AbortSignal): void {
    if (signal.aborted) this.aborted(signal.reason);
    if (this.phase === 'closed') return;
    this.#signal = signal;
    this.host.signals.add(signal, this);
  }

  aborted(reason: unknown): void {
    this.cancel('aborted', new CancelledError('aborted', { streamId: this.line.id, cause: reason }));
  }

  // From the connection

  receive(frame: CompleteFrame): void {
    if (this.local && this.replyHeaders === null) this.#firstFrame(frame.headers);
    if (frame.end) this.trailers = frame.trailers;
    if (frame.payload !== ABSENT) this.#deliver(frame.payload);
    // An end that closes the stream comes with its cause.
    if (frame.end && this.phase !== 'closed') this.finish();
  }

  /** The remote has ended, and this side may go on. */
  finish(): void {
    this.#completed = true;
    this.#deliverEnd(COMPLETED);
  }

  gone(cause: CloseCause, error?: unknown): void {
    const { end } = this;
    this.cause = cause;
    this.#error = error;
    if (this.#deadline !== null) this.host.deadlines.cancel(this.#deadline);
    if (this.#signal !== null) this.host.signals.remove(this.#signal, this);
    if (end === null) this.#deliverEnd(this);
    this.#extras?.gone(cause);
  }

  takeBack(unsent: Unsent): boolean {
    if (!this.host.source.expectsSocket) return false;
    this.line = this.host.openQueue.requeue(this, unsent);
    return true;
  }

  // From the inbox

  markTaken(): void {
    if (this.#taken) return;
    this.#taken = true;
    this.line.taken();
  }

  lastReaderLeft(): void {
    if (this.local) this.cancel();
  }

  missed(): void {
    const missed = 'a second reader came after the first had left, and has missed the payloads between: keep one iterator';
    log('warn', aboutStream(this.line.id, missed));
  }

  // From the user

  /** Resets the stream with CANCEL: this side wants nothing more of it. Consumers see `error`; by default that of the cause. */
  cancel(reason = 'unsubscribed', error?: StreamError): void {
    this.line.reset('user', ResetCode.CANCEL, reason, error === undefined ? undefined : { error });
  }

  expire(timeoutMs: number): void {
    const error = deadlineError(timeoutMs, this.line, this.host.source);
    this.line.reset('library', ResetCode.DEADLINE_EXCEEDED, `not done within ${timeoutMs} ms`, { error });
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
    if (!this.host.hooks.incomingHeaders.empty) this.host.hooks.arrived(this.replyHeaders, this.facade);
    this.#extras?.headersArrived(this.replyHeaders);
  }
}
