import type { End } from './receiving.js';
import { COMPLETED, deliverEnd } from './receiving.js';
import type { Unsubscribable } from 'rxjs';
import type { ReadBackpressure, ReceiveBudget } from '../connection/budget.js';
import type { StreamTable, Tally } from '../connection/connection.js';
import type { GoAway } from '../connection/control.js';
import type { FloodGuard } from '../connection/inbound.js';
import type { NotificationTurn, Scheduler, Unsent } from '../connection/outbound.js';
import { resetFrame } from '../connection/replies.js';
import type { MessageForm } from '../connection/replies.js';
import { log } from '../logger.js';
import type { Sink } from '../operators/demultiplex.js';
import type { HooksToRun } from '../peer/hooks.js';
import type { ResolvedOptions } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import type { PeerStatus } from '../peer/status.js';
import type { OpenQueue } from '../peer/waiting.js';
import type { Codec, Message } from '../wire/codec.js';
import { ResetCode } from '../wire/codes.js';
import { CancelledError, DeadlineExceededError, StreamFault } from '../wire/errors.js';
import type { AnyMuxError, StreamError } from '../wire/errors.js';
import { ABSENT } from '../wire/frame.js';
import type { CompleteFrame, Frame, FrameOf, Metadata, StreamFrame } from '../wire/frame.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import type { Reassembly } from '../wire/reassembly.js';
import type { AbortSignals, Abortable, Deadline, Deadlined, Deadlines } from './deadlines.js';
import { ENDED, causeError, overtakes } from './end.js';
import type { CloseCause } from './end.js';
import { Holdings, Inbox } from './receiving.js';
import type { Reader } from './receiving.js';
import { runAll } from './sending.js';
import type { Outbox } from './sending.js';
import { StreamState } from './state.js';
import { Stream } from './stream.js';
import type { StreamExtras } from './extras.js';

/** The owner of the remote's streams. */
export interface StreamOwner {
  /** Counts the streams and frames of all sockets. */
  readonly tally: Tally;
  /** Makes the stream for an open of the remote, which may not have arrived whole. */
  remoteStream(): LiveStream;
  /** The library has refused a stream of the remote, because of a rule or a limit, or because no handler took it. */
  refused(code: ResetCode, reason: string): void;
}

/** Closes a draining connection after its last stream. */
export interface StreamClosing {
  /** A stream has ended. */
  streamReleased(): void;
}

/** The parts of a session that a live stream uses. */
export interface LiveStreamHost extends MessageForm {
  readonly streams: StreamTable;
  readonly scheduler: Scheduler;
  readonly flood: FloodGuard;
  readonly reading: ReadBackpressure;
  readonly receiveBudget: ReceiveBudget;
  readonly reassembly: Pick<Reassembly, 'release'>;
  readonly control: { readonly goaway: GoAway };
  readonly owner: StreamOwner;
  readonly closing: StreamClosing;
  readonly notifications: NotificationTurn;
  /** Bytes of the payload in delivery, with its headers. */
  readonly arrivedBytes: number;
  /** Returns the reason of a reset, with the note of the limits appended. */
  noted(reason: string): string;
  /** Ends the connection. */
  fail(error: unknown): void;
}

/** The frames of a stream that no socket has accepted yet, and the tasks that wait on the stream. */
export interface WaitingFrames {
  /** Whether the stream can send more without growing a long queue. */
  readonly hasRoom: boolean;
  /** Returns whether the queue of all streams is so full that a value of `bytes` must fail if it did not wait for room. */
  overflowsWith(bytes: number): boolean;
  /** Keeps a task until a socket accepts the stream, or until there is room. */
  addTask(task: () => void): void;
  add(frame: OutgoingFrame): void;
  /** The stream has ended. Drops its frames, and returns its tasks. */
  leave(): readonly (() => void)[];
}

/** Optional parts of a reset. */
export interface ResetExtras {
  /** The decoded payload; default `null`, which means none. */
  readonly payload?: unknown;
  /** The encoded payload; default `null`, which sends none. */
  readonly encodedPayload?: Message | null;
  /** The error for the stream's user instead of the cause's plain error. */
  readonly error?: unknown;
}

/** A reset without optional parts. */
export const NO_EXTRAS: ResetExtras = {};

/** The socket takes no more frames of a stream. An unsent stream waits for the next socket, if one will come. Any other stream ends. */
export function loseSocket(session: LiveStreamHost, stream: LiveStream, cause: CloseCause): void {
  if (stream.closed) return;
  const queued = session.scheduler.backlog.takeUnsent(Number(stream.id));
  if (stream.unsent && waitsAgain(session, stream, queued)) return;
  stream.advance('close');
  stream.close();
  stream.release(cause);
  runAll(queued.waiters);
}

/** Takes a stream from its socket, with its frames and tasks. Returns `false` if no other socket will come. */
function waitsAgain(session: LiveStreamHost, stream: LiveStream, unsent: Unsent): boolean {
  const id = Number(stream.id);
  stream.restart();
  try {
    if (!stream.requeue(unsent)) return false;
  } catch (error) {
    log('error', `stream ${id}: internal error`, error);
    return false;
  }
  stream.close();
  stream.session = stream.id = null;
  // The next socket counts it again.
  session.owner.tally.opened--;
  releaseTasks(session, stream, id);
  return true;
}

/** Runs the tasks that waited on a stream which has left its socket, and notifies the drain. */
export function releaseTasks({ notifications, scheduler, closing }: LiveStreamHost, stream: LiveStream, id: number): void {
  if (stream.isNotification) notifications.ended(stream);
  scheduler.release(id);
  closing.streamReleased();
}

/** Codes of resets by the library without a fault of the remote: an unread upload, the streams left by a drain, and a caller's deadline. */
const WELL_MEANT: ReadonlySet<ResetCode> = new Set([ResetCode.NO_ERROR, ResetCode.CANCEL, ResetCode.DEADLINE_EXCEEDED]);

/**
 * One stream: it sends and receives frames, and advances its state. Its owner extends it. A stream without a socket has only its
 * {@link waiting} frames. A stream ends in three steps:
 *
 * 1. The state moves to its last row. {@link close} then releases the id in the table, unfinished payloads and, unless a handler or an
 *    unwritten reset holds it, the place of `maxStreams`.
 * 2. {@link gone} receives the cause.
 * 3. {@link release} releases the bytes, unless a handler still runs. Then it runs the tasks that waited on the stream, and notifies the drain.
 *
 * A reset by the remote drops the queued frames before the first step. So does a reset by this side that overtakes them.
 */
export abstract class LiveStream extends StreamState implements Sink<CompleteFrame | StreamFault> {
  /** `null` while no socket has accepted the stream. */
  id: number | null = null;
  /** The session whose socket has accepted the stream. */
  session: LiveStreamHost | null = null;
  /** The frames that wait for a socket. `null` once a socket has accepted the stream, and for a stream that ends before it is queued. */
  waiting: WaitingFrames | null = null;
  /** The cause of the stream's end; `null` while the stream is live. It is set after the phase, once the closing frame was delivered. */
  cause: CloseCause | null = null;
  /** Of a remote's stream; otherwise created when the stream first holds something. */
  #held: Holdings | null = null;

  constructor(
    local: boolean,
    /** A `notify`: no answer is expected. */
    readonly isNotification: boolean,
  ) {
    super(local);
  }

  /** The open of a remote's stream has arrived whole. An error that this throws ends only the stream. */
  abstract accept(open: CompleteFrame): void;
  /** Receives one whole `data` frame of the remote, right after the phase has changed. An error that this throws ends only the stream. */
  abstract receive(frame: CompleteFrame): void;
  /** The stream has its {@link cause}. No frame follows. `error` is the error for the stream's user, in place of the cause's plain error. */
  abstract gone(cause: CloseCause, error?: unknown): void;
  /** Makes the frames and tasks of an unsent stream {@link waiting} for the next socket. Returns `false` if none will come. */
  abstract requeue(unsent: Unsent): boolean;

  /** Returns the session of a stream that a socket has accepted. */
  #connection(): LiveStreamHost {
    if (this.session === null) throw new TypeError('expected a stream that a socket has accepted, got one that waits');
    return this.session;
  }

  /** A socket accepts the stream. A stream of the remote takes one of the places of `maxStreams`. */
  enter(session: LiveStreamHost, id: number): void {
    this.session = session;
    this.id = id;
    this.waiting = null;
    if (!this.local) this.#held = new Holdings(this, session).takePlace();
  }

  /** Queues one frame under the stream's id; drops a frame after the end. */
  send(frame: OutgoingFrame): void {
    if (this.sealed) return;
    if (frame.end) this.advance('seal');
    const { waiting, session } = this;
    if (waiting !== null) waiting.add(frame);
    else if (session !== null) {
      frame.stream = this.id;
      if (this.isNotification) session.notifications.queued(this, frame);
      session.scheduler.add(frame);
    }
  }

  /** The pipeline is about to write a frame or slice of this stream. Returns whether it ends the stream; if so, {@link release} follows. */
  leaving(slice: Frame): boolean {
    if (slice.type === 'open') this.advance('sendOpen');
    if (slice.end !== true) return false;
    // A notification awaits no answer.
    const closes = this.advance(this.isNotification ? 'close' : 'sendEnd') && this.closed;
    if (closes) this.close();
    return closes;
  }

  /** Receives each whole frame of the remote on this stream. */
  next(value: StreamFrame | StreamFault): void {
    if (value instanceof StreamFault) this.resetForViolation(value.code, value.reason);
    else if (value.type === 'open') this.#opened(value);
    else if (value.type === 'reset') this.#resetByRemote(value);
    else this.#data(value);
  }

  #opened(frame: FrameOf<'open'>): void {
    this.advance('recvOpen');
    if (frame.end) this.advance('recvEnd');
    const stays = frame.payload !== ABSENT || frame.headers !== null || frame.trailers !== null;
    if (stays && !this.held.attach(frame)) return;
    try {
      this.accept(frame);
    } catch (error) {
      this.#broken(error);
    }
  }

  #data(frame: FrameOf<'data'>): void {
    const { headersDue } = this;
    if (headersDue) this.advance('recvData');
    else if (frame.headers !== null) log('debug', `stream ${this.id}: ignored headers on a later frame`);
    const stays = frame.trailers !== null || (frame.headers !== null && headersDue);
    const over = frame.end && this.advance('recvEnd') && this.closed;
    if (over) this.close();
    if (stays && !over && !this.held.attach(frame)) return;
    try {
      this.receive(frame);
    } catch (error) {
      this.#broken(error);
    }
    if (over) this.release();
  }

  /** The stream's share of the connection that has accepted it. */
  get held(): Holdings {
    return (this.#held ??= new Holdings(this, this.#connection()));
  }

  /** A user has taken a stream that the remote opened. The stream counts as dispatched. */
  taken(): void {
    if (!this.local) this.#connection().control.goaway.dispatched(Number(this.id));
  }

  /** A handler of a remote stream has started. The stream keeps its place until the handler has settled, whatever the remote does. */
  handlerStarted(): void {
    if (!this.local) this.held.handlerStarted();
    this.taken();
  }

  /** The handler has settled. */
  handlerSettled(): void {
    if (!this.local) this.held.handlerSettled();
  }

  /** Ends the stream with a reset of this side; does nothing on a closed stream. The remote hears it if it knows the stream. */
  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, extras: ResetExtras = NO_EXTRAS): void {
    if (this.closed) return;
    const { payload = null, encodedPayload = null, error } = extras;
    const cause: CloseCause = { how: 'reset', by, code, reason, payload };
    const { session } = this;
    if (session === null) {
      this.fail(cause, error);
      return;
    }
    const { streams, scheduler, owner } = session;
    const id = Number(this.id);
    if (by === 'library' && !this.local && code !== null && !WELL_MEANT.has(code)) owner.refused(code, reason);
    if (!this.local) streams.awaitReset(id, this.held);
    this.advance('sendReset');
    this.close();
    const isAhead = overtakes(code);
    // The reset may leave at once and make room. Senders that wait for room must see the cause first.
    const waiters = scheduler.backlog.takeWaiters(id);
    if (isAhead) scheduler.backlog.drop(id);
    // If the open was dropped, the remote does not know the stream.
    if (!isAhead || !this.unsent) scheduler.addReset(resetFrame(session, id, code, reason, payload, encodedPayload), isAhead);
    this.release(cause, error, waiters);
  }

  /** Resets the stream because the remote broke a rule on it. */
  resetForViolation(code: ResetCode, reason: string): void {
    this.reset('library', code, this.#connection().noted(reason));
    this.#connection().flood.countProvokedReset(code);
  }

  /** The owner refuses a stream that the remote has opened. */
  refuse(reason: string): void {
    this.reset('library', ResetCode.REFUSED, reason);
    // An error of `accept` ends only the stream. A flood must end the connection, so catch its fault here.
    try {
      this.#connection().flood.countJunk(`an open of stream ${this.id}: ${reason}`);
    } catch (fault) {
      this.#connection().fail(fault);
    }
  }

  /** Ends a stream that no socket has accepted. */
  fail(cause: CloseCause, error?: unknown): void {
    if (this.closed) return;
    this.advance('close');
    const tasks = this.waiting?.leave() ?? [];
    this.waiting = null;
    this.cause = cause;
    this.gone(cause, error);
    runAll(tasks);
  }

  #resetByRemote({ code, reason, payload }: FrameOf<'reset'>): void {
    const { flood, scheduler } = this.#connection();
    if (this.#held?.isRunning === true) flood.countEarlyReset();
    scheduler.backlog.drop(Number(this.id));
    this.advance('recvReset');
    this.close();
    this.release({ how: 'reset', by: 'remote', code, reason: reason ?? '', payload: payload === ABSENT ? null : payload });
  }

  /** The owner's code has thrown. The error ends only this stream. */
  #broken(error: unknown): void {
    log('error', `stream ${this.id}: internal error`, error);
    this.reset('library', ResetCode.INTERNAL_ERROR, 'internal error');
  }

  /** Removes the stream from its connection, before its user sees the end. */
  close(): void {
    const { streams, reassembly } = this.#connection();
    const id = Number(this.id);
    this.#held?.close();
    streams.delete(id);
    reassembly.release(id);
  }

  /** Reports the end to the user of a closed stream, and releases the rest. Then runs `waiters`, and the tasks that still wait on the stream. */
  release(cause: CloseCause = this.#held?.overrun ?? ENDED, error?: unknown, waiters: readonly (() => void)[] = []): void {
    const session = this.#connection();
    session.owner.tally.ended(cause);
    this.cause = cause;
    try {
      this.gone(cause, error);
    } catch (failure) {
      this.#broken(failure);
    }
    this.#held?.release();
    runAll(waiters);
    releaseTasks(session, this, Number(this.id));
  }
}

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
    return (this.#facade ??= Stream.around(this));
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

/** Why a peer has no open socket. An unsent call that ends reports it. */
export interface Absence {
  readonly reason: string;
  /** The error of the last dial, if it failed. */
  readonly error: AnyMuxError | null;
}

/** Whether a stream without a socket may wait for one. */
export interface SocketOutlook {
  readonly expectsSocket: boolean;
  readonly absence: Absence;
}

/** The parts of a peer that a stream uses. */
export interface StreamHost {
  /** The user's peer. */
  readonly peer: Peer;
  /** Names the peer in the log. */
  readonly label: string;
  readonly codec: Codec;
  readonly options: Pick<ResolvedOptions, 'errorSerializer' | 'label' | 'maxFrameBytes'>;
  readonly hooks: HooksToRun;
  readonly status: { readonly now: PeerStatus };
  readonly source: SocketOutlook;
  readonly openQueue: Pick<OpenQueue, 'requeue'>;
  readonly deadlines: Deadlines;
  readonly signals: AbortSignals;
  /** A stream of the remote has arrived whole. */
  accept(stream: StreamCore): void;
  /** The id of this side's next stream; `null` without a socket. */
  readonly nextStreamId: number | null;
}

/** Follows the streams of a peer. `rxmux/otel` implements it. */
export interface Tracer {
  /** Called with the headers of a call, after the interceptors. It may change them in place. */
  calling(headers: Metadata, payload: unknown): void;
  /** Called with the stream of that call, before its open is sent. A call that fails in between has none. */
  called(stream: StreamCore): void;
  /** Called with a stream of the remote. It calls `answer`, which runs the handlers. */
  answering(stream: StreamCore, answer: () => void): void;
}
