import { log } from '../../logger.js';
import { STREAM_ROOM_BYTES, SPARED_BYTES } from '../../session/send/backlog.js';
import type { Unsent } from '../../session/send/backlog.js';
import type { CloseCause } from '../../session/base/close-cause.js';
import type { Session } from '../../session/session.js';
import { NO_EXTRAS } from '../../session/streams/stream-line.js';
import type { ResetExtras, StreamLine } from '../../session/streams/stream-line.js';
import type { StreamPhase } from '../../session/streams/stream-state.js';
import { runAll } from '../../session/base/waiters.js';
import type { Message } from '../../wire/codec.js';
import { ConnectError } from '../../wire/errors.js';
import { QueueOverflowError, StreamError } from '../../wire/stream-errors.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { chargeOfPart } from '../../wire/held-bytes.js';
import { LazySet } from '../../wire/lazy.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import { ResetCode } from '../../wire/reset-code.js';
import type { PeerStatus } from '../base/status.js';
import type { StreamCore } from './stream-core.js';

/** The number of frames of a stream that has sent only its open. */
const OPEN_ALONE = 1;

/** Opens that wait for a connection: first come, first served, and bounded in bytes. */
export class OpenQueue {
  readonly #streams = new LazySet<QueuedStream>();
  #bytes = 0;

  constructor(readonly limit: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#streams.size;
  }

  get empty(): boolean {
    return this.#streams.size === 0;
  }

  /** The waiting streams in the order of their calls. */
  protected get waiting(): Iterable<QueuedStream> {
    return this.#streams;
  }

  /** Whether the queue is full, so that further values should wait at their sender. */
  get full(): boolean {
    return this.#bytes >= this.limit;
  }

  /**
   * Adds a stream to the queue.
   *
   * @throws QueueOverflowError if the queue is full; one stream larger than the limit may wait alone
   */
  add(encodedPayload: Message | null, isNotification: boolean): QueuedStream {
    const bytes = chargeOfPart(encodedPayload);
    if (this.#bytes > 0 && this.#bytes + bytes > this.limit) {
      throw new QueueOverflowError(
        `${this.#bytes + bytes} bytes waiting for a connection are over the limit of ${this.limit} (maxQueuedBytes)`,
        { retriable: true },
      );
    }
    return this.#enqueue(new QueuedStream(this, isNotification));
  }

  /** Queues a stream again whose socket took no frame of it. The queue accepted the stream once, so no limit applies. */
  requeue(stream: StreamCore, { frames, waiters }: Unsent): QueuedStream {
    const queued = this.#enqueue(new QueuedStream(this, stream.line.isNotification, waiters));
    queued.stream = stream;
    for (const frame of frames) queued.send(frame);
    return queued;
  }

  charge(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Adds a stream that waited in another queue. */
  take(stream: QueuedStream, bytes: number): void {
    this.#streams.add(stream);
    this.#bytes += bytes;
  }

  release(stream: QueuedStream, bytes: number): void {
    if (!this.#streams.delete(stream)) return;
    const wasFull = this.full;
    this.#bytes -= bytes;
    if (wasFull && !this.full) for (const other of this.#streams) other.roomFreed();
  }

  /**
   * Sends the waiting streams in order, while the session accepts them. Includes streams that enter meanwhile. A notification that has to
   * wait for another one moves to `notifications`.
   */
  flushTo(session: Session, notifications: NotificationQueue): void {
    for (const stream of this.#streams) {
      if (!session.acceptsStreams || session.streams.exhausted) return;
      if (stream.isNotification && notifications.delays(session)) stream.moveTo(notifications);
      else stream.flushTo(session);
    }
  }

  /** Moves all waiting streams to the end of `queue`. */
  moveTo(queue: OpenQueue): void {
    for (const stream of this.#streams) stream.moveTo(queue);
  }

  /** Ends every waiting stream, because no connection will come. Logs `why` for notifications, which have no other way to report it. */
  failAll(
    cause: CloseCause,
    error: AnyMuxError | null,
    why = 'the peer ended before there was a connection (await peer.opened first)',
  ): void {
    const waiting = [...this.#streams];
    warnOfForgotten(waiting, why);
    for (const stream of waiting) stream.fail(cause, errorOfQueued(cause, error));
  }

  /** Ends a new stream, because no connection will ever come. The error is the failure of the last dial, if that is the cause. */
  refuse(stream: QueuedStream, status: PeerStatus): void {
    const reason = 'this peer opens no more streams';
    warnOfForgotten([stream], reason);
    if (status.state === 'closed' && status.error !== null) {
      const cause: CloseCause = { how: 'lost', reason: status.reason };
      stream.fail(cause, errorOfQueued(cause, status.error));
    } else stream.fail({ how: 'reset', by: 'library', code: ResetCode.REFUSED, reason, payload: null });
  }

  #enqueue(stream: QueuedStream): QueuedStream {
    this.#streams.add(stream);
    return stream;
  }
}

/**
 * Notifications that wait until an earlier one of several messages has left. So the remote handles notifications in the order of their calls
 * (S9a). They take their ids only then, because ids rise in the order in which opens leave (S1).
 */
export class NotificationQueue extends OpenQueue {
  constructor() {
    // No limit holds a notification back, as on an open stream.
    super(Infinity);
  }

  /** Returns whether a new notification has to wait. */
  delays(session: Session | null): boolean {
    return !this.empty || session?.isNotifying === true;
  }

  /** Sends notifications up to the next one of several messages. */
  follow(session: Session): void {
    for (const stream of this.waiting) {
      if (session.isNotifying || session.streams.exhausted) return;
      stream.flushTo(session);
    }
  }
}

/** Returns the error of a waiting stream. An error of the hello's stream concerns only that stream, so it becomes the cause. */
function errorOfQueued(cause: CloseCause, error: AnyMuxError | null): AnyMuxError | null {
  if (cause.how !== 'lost' || !(error instanceof StreamError)) return error;
  return new ConnectError(`the hello has failed: ${error.message}`, { reason: cause.reason, cause: error });
}

/** Logs lost notifications. Any other call reports its own error. */
function warnOfForgotten(streams: readonly QueuedStream[], why: string): void {
  const { length } = streams.filter(({ isNotification }) => isNotification);
  if (length > 0) log('warn', `${length} notify() never left: ${why}`);
}

/** A stream that no socket has accepted yet. Its frames wait here. */
export class QueuedStream implements StreamLine {
  readonly id = null;
  readonly local = true;
  readonly unsent = true;
  readonly arrivedBytes = 0;
  stream: StreamCore | null = null;
  readonly #frames: OutgoingFrame[] = [];
  readonly #waiters: (() => void)[];
  #bytes = 0;
  #ended: CloseCause | null = null;
  #sealed = false;

  constructor(
    private queue: OpenQueue,
    readonly isNotification: boolean,
    waiters: readonly (() => void)[] = [],
  ) {
    this.#waiters = [...waiters];
  }

  get phase(): StreamPhase {
    return this.#ended === null ? 'idle' : 'closed';
  }

  get sealed(): boolean {
    return this.#sealed || this.#ended !== null;
  }

  get hasRoom(): boolean {
    return this.sealed || (this.#bytes < STREAM_ROOM_BYTES && !this.queue.full);
  }

  /** A queued frame never leaves at once. Only a sealed stream has demand, so that no task waits on it. */
  get hasDemand(): boolean {
    return this.sealed;
  }

  whenRoom(task: () => void): void {
    if (this.hasRoom) task();
    else this.#waiters.push(task);
  }

  whenDemand(task: () => void): void {
    if (this.hasDemand) task();
    else this.#waiters.push(task);
  }

  /** The queue has room again. */
  roomFreed(): void {
    if (this.hasRoom) runAll(this.#waiters.splice(0));
  }

  overflowsWith(bytes: number): boolean {
    return this.queue.full && (bytes > SPARED_BYTES || this.#frames.length > OPEN_ALONE || this.queue.bytes >= 2 * this.queue.limit);
  }

  send(frame: OutgoingFrame): void {
    if (this.#ended !== null) return;
    if (frame.end) this.#sealed = true;
    this.#frames.push(frame);
    const bytes = chargeOfPart(OutgoingFrame.encodedPayload(frame));
    this.#bytes += bytes;
    this.queue.charge(bytes);
  }

  reset(by: 'user' | 'library', code: ResetCode | null, reason: string, { payload = null, error }: ResetExtras = NO_EXTRAS): void {
    this.fail({ how: 'reset', by, code, reason, payload }, error);
  }

  // This side opened the stream, and no frame arrives before the open has left.
  taken(): void {}
  handlerStarted(): void {}
  handlerSettled(): void {}
  weigh(): number {
    return 0;
  }

  keep(): boolean {
    return true;
  }
  read(): void {}
  handOver(): void {}

  /** Moves the stream to a session before its first frame leaves: hooks may send on the stream then, and the answer may come. */
  flushTo(session: Session): void {
    const { stream } = this;
    if (stream === null) return;
    const live = session.open(this.isNotification);
    live.sink = stream;
    session.scheduler.batch(() => {
      for (const frame of this.#frames) live.send(frame);
      stream.line = live;
      this.queue.release(this, this.#bytes);
    });
    for (const task of this.#waiters.splice(0)) stream.line.whenRoom(task);
  }

  /** Moves to another queue. */
  moveTo(queue: OpenQueue): void {
    this.queue.release(this, this.#bytes);
    this.queue = queue;
    queue.take(this, this.#bytes);
  }

  fail(cause: CloseCause, error?: unknown): void {
    if (this.#ended !== null) return;
    this.#ended = cause;
    this.queue.release(this, this.#bytes);
    this.#frames.length = 0;
    this.stream?.gone(cause, error);
    runAll(this.#waiters.splice(0));
  }
}
