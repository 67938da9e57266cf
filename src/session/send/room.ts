import type { Limits } from '../../wire/limits.js';
import type { Share } from '../base/share.js';
import { Waiters } from '../base/waiters.js';
import type { Backlog } from './backlog.js';

/** A stream with a queue below so many bytes accepts more without waiting. */
export const STREAM_ROOM_BYTES = 256 * 1024;
/** Even at the limit, a stream with an empty queue may add so many bytes: it did not ignore back-pressure. */
export const SPARED_BYTES = 16 * 1024;

/** The queues of a connection, as their room sees them. */
export interface Queued {
  readonly limits: Limits;
  readonly share: Share | null;
  /** Queued bytes of payload of all streams. */
  readonly bytes: number;
  /** The non-empty queues by stream. */
  readonly queues: { get(stream: number): { readonly bytes: number } | undefined };
}

/** Returns the room of a backlog, made on first use. */
export function roomIn(backlog: Backlog): Room {
  return (backlog.room ??= new Room(backlog));
}

/**
 * Knows which streams may add more: those with less than 256 KiB queued, while all queues together are below `sendHighWaterBytes`. Keeps the
 * tasks that wait for that.
 */
export class Room extends Waiters {
  /** All queues together are short enough below so many bytes. */
  readonly #highWater: number;
  /** Whether all queues together have become short enough since {@link relieve} last ran. */
  #relieved = false;

  constructor(private readonly queued: Queued) {
    super();
    const { sendHighWaterBytes, maxUnsentBytes } = queued.limits;
    this.#highWater = Math.min(sendHighWaterBytes, maxUnsentBytes);
  }

  /** Returns whether `stream` may add more without growing a long queue. */
  hasRoom(stream: number): boolean {
    const { share, queues, bytes } = this.queued;
    if (share?.mustWait() === true) return false;
    const queue = queues.get(stream);
    return (queue === undefined || queue.bytes < STREAM_ROOM_BYTES) && bytes < this.#highWater;
  }

  /**
   * Returns whether a stream must fail if it adds so many bytes without waiting for room. That is so once all queues together hold
   * `maxUnsentBytes`. A stream with an empty queue did not fill them, so it may still add up to {@link SPARED_BYTES}. Even this exception ends
   * once they hold `sendHighWaterBytes` more.
   */
  overflowsWith(stream: number, bytes: number): boolean {
    const { share, queues, bytes: queued, limits } = this.queued;
    const { maxUnsentBytes, sendHighWaterBytes } = limits;
    if (share?.overflowsWith(bytes) === true) return true;
    if (queued < maxUnsentBytes) return false;
    return bytes > SPARED_BYTES || queues.get(stream) !== undefined || queued >= maxUnsentBytes + sendHighWaterBytes;
  }

  /** Runs the tasks that wait on `stream`, if it has room. */
  wake(stream: number): void {
    if (this.size > 0 && this.hasRoom(stream)) this.run(stream);
  }

  /** So many bytes have left the queues. */
  freed(bytes: number): void {
    const left = this.queued.bytes;
    if (left < this.#highWater && left + bytes >= this.#highWater) this.#relieved = true;
  }

  /** Other connections have made room. The waiting tasks run at the next {@link relieve}. */
  madeElsewhere(): void {
    this.#relieved = true;
  }

  /** Runs the tasks that waited for all queues together, once the queues have become short enough. */
  relieve(): void {
    if (!this.#relieved) return;
    this.#relieved = false;
    for (const stream of [...this.keys()]) this.wake(stream);
  }
}
