import type { Connection } from '../connection/connection.js';
import { log } from '../logger.js';
import { libraryReset } from '../stream/end.js';
import type { CloseCause } from '../stream/end.js';
import { SPARED_BYTES, STREAM_ROOM_BYTES, runAll, takeTasks } from '../stream/sending.js';
import type { Place, StreamCore } from '../stream/stream-core.js';
import { LazySet } from '../util/collections.js';
import type { PackedPayload } from '../wire/codec.js';
import { ConnectError, QueueOverflowError, RefusedError, StreamError } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import { chargeOfPart } from '../wire/reassembly.js';
import type { PeerStatus } from './status.js';

/** The number of frames of a stream that has sent only its open. */
const OPEN_ALONE = 1;

/** Streams that wait for a connection: first come, first served, and bounded in bytes. They keep their own frames and tasks. */
export class Waiting implements Place {
  readonly #streams = new LazySet<StreamCore>();
  #bytes = 0;

  /** @param limit the most bytes that wait; `Infinity` for none */
  constructor(private readonly limit: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#streams.size;
  }

  get empty(): boolean {
    return this.#streams.size === 0;
  }

  /** Whether the queue is full, so that further values should wait at their sender. */
  #isFull(): boolean {
    return this.#bytes >= this.limit;
  }

  /**
   * Adds a stream whose open is about to be sent.
   *
   * @throws QueueOverflowError if the queue is full; one stream larger than the limit may wait alone
   */
  enqueue(stream: StreamCore, encodedPayload: PackedPayload | null): void {
    const bytes = chargeOfPart(encodedPayload);
    if (this.#bytes > 0 && this.#bytes + bytes > this.limit) {
      throw new QueueOverflowError(
        `${this.#bytes + bytes} bytes waiting for a connection are over the limit of ${this.limit} (maxQueuedBytes)`,
        { retriable: true },
      );
    }
    this.requeue(stream);
  }

  /** Adds a stream that has waited before. It was accepted once, so no limit applies. */
  requeue(stream: StreamCore): void {
    this.#streams.add(stream);
    this.#bytes += stream.sending?.bytes ?? 0;
    stream.place = this;
  }

  add(stream: StreamCore, frame: OutgoingFrame): void {
    this.#bytes += stream.ownSending.add(frame);
  }

  remove(stream: StreamCore): void {
    if (!this.#streams.delete(stream)) return;
    const wasFull = this.#isFull();
    this.#bytes -= stream.sending?.bytes ?? 0;
    if (wasFull && !this.#isFull()) for (const other of this.#streams) if (this.hasRoom(other)) other.sending?.runRoom();
  }

  hasRoom({ sending }: StreamCore): boolean {
    return (sending === null || sending.bytes < STREAM_ROOM_BYTES) && !this.#isFull();
  }

  hasDemand(): boolean {
    return false;
  }

  overflowsWith({ sending }: StreamCore, bytes: number): boolean {
    return this.#isFull() && (bytes > SPARED_BYTES || Number(sending?.frames) > OPEN_ALONE || this.#bytes >= 2 * this.limit);
  }

  waits(): void {
    // Its tasks run when there is room, and when a connection takes the stream.
  }

  /**
   * Sends the waiting streams in order, while the connection accepts them. Includes streams that enter meanwhile. A notification that has to
   * wait for another one moves to `notifications`.
   */
  flushTo(connection: Connection, notifications: Notifications): void {
    for (const stream of this.#streams) {
      if (!connection.acceptsStreams || connection.isExhausted) return;
      if (stream.isNotification && notifications.delays(connection)) this.#move(stream, notifications);
      else this.#flush(stream, connection);
    }
  }

  /** Sends waiting streams in order, until `mayGoOn` says no. */
  protected flushWhile(connection: Connection, mayGoOn: () => boolean): void {
    for (const stream of this.#streams) {
      if (!mayGoOn()) return;
      this.#flush(stream, connection);
    }
  }

  /** Moves all waiting streams to the end of `other`. */
  moveTo(other: Waiting): void {
    for (const stream of this.#streams) this.#move(stream, other);
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

  /**
   * Ends a new stream, because no connection will ever come. The error is the failure of the last dial, if that is the cause, and else says
   * `reason`.
   */
  refuse(stream: StreamCore, status: PeerStatus, reason: string): void {
    warnOfForgotten([stream], reason);
    if (status.state === 'closed' && status.error !== null) {
      const cause: CloseCause = { how: 'lost', reason: status.reason };
      stream.fail(cause, errorOfQueued(cause, status.error));
    } else stream.fail(libraryReset(reason), new RefusedError(reason, null, { retriable: false }));
  }

  #move(stream: StreamCore, other: Waiting): void {
    this.remove(stream);
    other.requeue(stream);
  }

  /** The stream has its connection before its first frame leaves: hooks may send on it then, and the answer may come. */
  #flush(stream: StreamCore, connection: Connection): void {
    connection.adopt(stream);
    connection.outbound.take(stream);
    this.remove(stream);
    connection.outbound.pump();
    runAll(takeTasks(stream));
  }
}

/**
 * Notifications that wait until an earlier one of several messages has left. So the remote handles notifications in the order of their calls
 * (S9a). They take their ids only then, because ids rise in the order in which opens leave (S1).
 */
export class Notifications extends Waiting {
  constructor() {
    // No limit holds a notification back, as on an open stream.
    super(Infinity);
  }

  /** Returns whether a new notification has to wait. */
  delays(connection: Connection | null): boolean {
    return !this.empty || connection?.outbound.isNotifying === true;
  }

  /** Sends notifications up to the next one of several messages. */
  follow(connection: Connection): void {
    this.flushWhile(connection, () => !connection.outbound.isNotifying && !connection.isExhausted);
  }
}

/** Returns the error of a waiting stream. An error of the hello's stream concerns only that stream, so it becomes the cause. */
function errorOfQueued(cause: CloseCause, error: AnyMuxError | null): AnyMuxError | null {
  if (cause.how !== 'lost' || !(error instanceof StreamError)) return error;
  return new ConnectError(`the hello has failed: ${error.message}`, { reason: cause.reason, cause: error });
}

/** Logs lost notifications. Any other call reports its own error. */
function warnOfForgotten(streams: readonly StreamCore[], why: string): void {
  const { length } = streams.filter(({ isNotification }) => isNotification);
  if (length > 0) log('warn', `${length} notify() never left: ${why}`);
}
