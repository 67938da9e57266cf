import type { Session } from '../connection/connection.js';
import type { Unsent } from '../connection/outbound.js';
import { log } from '../logger.js';
import type { CloseCause } from '../stream/end.js';
import { QueuedFrames } from '../stream/sending.js';
import type { LiveStream } from '../stream/stream-core.js';
import { LazySet } from '../util/collections.js';
import type { Message } from '../wire/codec.js';
import { ResetCode } from '../wire/codes.js';
import { ConnectError, QueueOverflowError, StreamError } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';
import { chargeOfPart } from '../wire/reassembly.js';
import type { PeerStatus } from './status.js';

/** Opens that wait for a connection: first come, first served, and bounded in bytes. */
export class OpenQueue {
  readonly #streams = new LazySet<QueuedFrames>();
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
  protected get waiting(): Iterable<QueuedFrames> {
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
  add(stream: LiveStream, encodedPayload: Message | null): void {
    const bytes = chargeOfPart(encodedPayload);
    if (this.#bytes > 0 && this.#bytes + bytes > this.limit) {
      throw new QueueOverflowError(
        `${this.#bytes + bytes} bytes waiting for a connection are over the limit of ${this.limit} (maxQueuedBytes)`,
        { retriable: true },
      );
    }
    this.#enqueue(stream);
  }

  /** Queues a stream again whose socket took no frame of it. The queue accepted the stream once, so no limit applies. */
  requeue(stream: LiveStream, { frames, waiters }: Unsent): void {
    const queued = this.#enqueue(stream);
    for (const task of waiters) queued.addTask(task);
    for (const frame of frames) stream.send(frame);
  }

  charge(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Adds a stream that waited in another queue. */
  take(queued: QueuedFrames, bytes: number): void {
    this.#streams.add(queued);
    this.#bytes += bytes;
  }

  release(queued: QueuedFrames, bytes: number): void {
    if (!this.#streams.delete(queued)) return;
    const wasFull = this.full;
    this.#bytes -= bytes;
    if (wasFull && !this.full) for (const other of this.#streams) other.roomFreed();
  }

  /**
   * Sends the waiting streams in order, while the session accepts them. Includes streams that enter meanwhile. A notification that has to
   * wait for another one moves to `notifications`.
   */
  flushTo(session: Session, notifications: NotificationQueue): void {
    for (const queued of this.#streams) {
      if (!session.acceptsStreams || session.streams.exhausted) return;
      if (queued.stream.isNotification && notifications.delays(session)) queued.moveTo(notifications);
      else queued.flushTo(session);
    }
  }

  /** Moves all waiting streams to the end of `queue`. */
  moveTo(queue: OpenQueue): void {
    for (const queued of this.#streams) queued.moveTo(queue);
  }

  /** Ends every waiting stream, because no connection will come. Logs `why` for notifications, which have no other way to report it. */
  failAll(
    cause: CloseCause,
    error: AnyMuxError | null,
    why = 'the peer ended before there was a connection (await peer.opened first)',
  ): void {
    const waiting = [...this.#streams].map(({ stream }) => stream);
    warnOfForgotten(waiting, why);
    for (const stream of waiting) stream.fail(cause, errorOfQueued(cause, error));
  }

  /** Ends a new stream, because no connection will ever come. The error is the failure of the last dial, if that is the cause. */
  refuse(stream: LiveStream, status: PeerStatus): void {
    const reason = 'this peer opens no more streams';
    warnOfForgotten([stream], reason);
    if (status.state === 'closed' && status.error !== null) {
      const cause: CloseCause = { how: 'lost', reason: status.reason };
      stream.fail(cause, errorOfQueued(cause, status.error));
    } else stream.fail({ how: 'reset', by: 'library', code: ResetCode.REFUSED, reason, payload: null });
  }

  #enqueue(stream: LiveStream): QueuedFrames {
    const queued = new QueuedFrames(this, stream);
    this.#streams.add(queued);
    stream.waiting = queued;
    return queued;
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
    for (const queued of this.waiting) {
      if (session.isNotifying || session.streams.exhausted) return;
      queued.flushTo(session);
    }
  }
}

/** Returns the error of a waiting stream. An error of the hello's stream concerns only that stream, so it becomes the cause. */
function errorOfQueued(cause: CloseCause, error: AnyMuxError | null): AnyMuxError | null {
  if (cause.how !== 'lost' || !(error instanceof StreamError)) return error;
  return new ConnectError(`the hello has failed: ${error.message}`, { reason: cause.reason, cause: error });
}

/** Logs lost notifications. Any other call reports its own error. */
function warnOfForgotten(streams: readonly LiveStream[], why: string): void {
  const { length } = streams.filter(({ isNotification }) => isNotification);
  if (length > 0) log('warn', `${length} notify() never left: ${why}`);
}
