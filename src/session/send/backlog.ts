import { LazyMap } from '../../wire/lazy.js';
import type { Limits } from '../../wire/limits.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { Slicer } from '../../wire/slicer.js';
import { StreamQueue } from './stream-queue.js';
import type { Share } from '../base/share.js';
import { Waiters } from '../base/waiters.js';

/** A stream with a queue below so many bytes accepts more without waiting. */
export const STREAM_ROOM_BYTES = 256 * 1024;
/** Even at the limit, a stream with an empty queue may add so many bytes: it did not ignore back-pressure. */
export const SPARED_BYTES = 16 * 1024;

/** The queued frames and waiting tasks of a withdrawn stream. */
export interface Unsent {
  readonly frames: readonly OutgoingFrame[];
  /** Tasks that wait for room. */
  readonly waiters: readonly (() => void)[];
}

/** The non-empty queues by stream. */
type StreamQueues = Pick<LazyMap<number, StreamQueue>, 'size' | 'has' | 'get' | 'keys' | typeof Symbol.iterator>;

/** The waiting frames and tasks of all streams. Frames wait for their turn, tasks wait for room. */
export class Backlog {
  readonly #queues = new LazyMap<number, StreamQueue>();
  /** The queues in the order of their turns. A new queue comes last, so opens leave in the order in which they were added. */
  readonly queues: StreamQueues = this.#queues;
  /** Tasks that wait for room, by stream. */
  readonly #waiters = new Waiters();
  /** Tasks that wait until the scheduler pulls the next frame, by stream. */
  readonly #pullers = new Waiters();
  #bytes = 0;
  /** Whether all queues together have become short enough since {@link relieve} last ran. */
  #relieved = false;

  /** All queues together are short enough below so many bytes. */
  readonly #highWater: number;

  constructor(
    private readonly limits: Limits,
    private readonly share: Share | null = null,
  ) {
    this.#highWater = Math.min(limits.sendHighWaterBytes, limits.maxUnsentBytes);
  }

  /** Queued bytes of payload of all streams. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param slices the slices of the frame, if it has been cut already */
  add(stream: number, frame: OutgoingFrame, slices: Slicer | null): void {
    const queue = this.#queues.get(stream);
    if (queue !== undefined) {
      const bytes = queue.append(frame);
      this.#bytes += bytes;
      this.share?.queued(bytes);
      return;
    }
    const made = new StreamQueue(frame, slices);
    this.#queues.set(stream, made);
    this.#bytes += made.bytes;
    this.share?.queued(made.bytes);
  }

  /** So many bytes of a queue have left. The next stream has its turn. */
  taken(stream: number, queue: StreamQueue, bytes: number): void {
    this.#subtract(bytes);
    // The only queue has the next turn too.
    if (!queue.empty && this.#queues.size === 1) return;
    this.#queues.delete(stream);
    if (!queue.empty) this.#queues.set(stream, queue);
  }

  /** Drops a stream's queued frames. The caller calls {@link release} once the stream's owner knows. */
  drop(stream: number): void {
    const queue = this.#queues.get(stream);
    if (queue === undefined) return;
    this.#queues.delete(stream);
    this.#subtract(queue.bytes);
  }

  /** Drops the frames of every stream whose open has not left. The caller calls {@link release} afterwards. */
  dropUnopened(): void {
    for (const [stream, queue] of this.#queues) if (queue.unopened) this.drop(stream);
  }

  /** Withdraws the frames and waiting tasks of an unsent stream. The caller calls {@link release} afterwards. */
  takeUnsent(stream: number): Unsent {
    const frames = this.#queues.get(stream)?.takeAll() ?? [];
    this.drop(stream);
    return { frames, waiters: [...this.#waiters.take(stream), ...this.#pullers.take(stream)] };
  }

  /** The stream's owner knows its end. Runs the tasks that wait on the stream, and those that wait for the room of its queue. */
  release(stream: number): void {
    this.#waiters.run(stream);
    this.pull(stream);
    this.relieve();
  }

  /** Returns whether `stream` may add more without growing a long queue. */
  hasRoom(stream: number): boolean {
    if (this.share?.mustWait() === true) return false;
    const queue = this.#queues.get(stream);
    return (queue === undefined || queue.bytes < STREAM_ROOM_BYTES) && this.#bytes < this.#highWater;
  }

  /**
   * Returns whether a stream must fail if it adds so many bytes without waiting for room. That is so once all queues together hold
   * `maxUnsentBytes`. A stream with an empty queue did not fill them, so it may still add up to {@link SPARED_BYTES}. Even this exception ends
   * once they hold `sendHighWaterBytes` more.
   */
  overflowsWith(stream: number, bytes: number): boolean {
    const { maxUnsentBytes, sendHighWaterBytes } = this.limits;
    if (this.share?.overflowsWith(bytes) === true) return true;
    if (this.#bytes < maxUnsentBytes) return false;
    return bytes > SPARED_BYTES || this.#queues.has(stream) || this.#bytes >= maxUnsentBytes + sendHighWaterBytes;
  }

  /** Runs `task` once the stream's queue is below 256 KiB and all queues together below `sendHighWaterBytes`. */
  whenRoom(stream: number, task: () => void): void {
    if (this.hasRoom(stream)) task();
    else this.#waiters.add(stream, task);
  }

  /** Keeps a task for {@link pullNext}. */
  whenDemand(stream: number, task: () => void): void {
    this.#pullers.add(stream, task);
  }

  /** Whether any stream waits until the socket takes more, and may be pulled. */
  get pulled(): boolean {
    return this.#pullers.size > 0 && this.share?.mustWait() !== true;
  }

  /** Returns whether a stream has queued frames, or waits to be pulled. */
  hasMore(stream: number): boolean {
    return this.#queues.has(stream) || this.#pullers.has(stream);
  }

  /** Pulls the longest waiting stream that `accept` takes and whose queue is empty. Returns `false` if there is none. */
  pullNext(accept: (stream: number) => boolean): boolean {
    if (!this.pulled) return false;
    const stream = this.#pullers.first((waiting) => !this.#queues.has(waiting) && accept(waiting));
    return stream !== undefined && this.pull(stream);
  }

  /** Pulls a waiting stream; returns `false` if the stream does not wait. */
  pull(stream: number): boolean {
    return this.#pullers.run(stream);
  }

  /** Runs the tasks that wait for room on `stream`, if it has room. */
  wake(stream: number): void {
    if (this.#waiters.size > 0 && this.hasRoom(stream)) this.#waiters.run(stream);
  }

  /** Other connections have made room. The tasks that waited for room run at the next {@link relieve}. */
  roomMade(): void {
    this.#relieved = true;
  }

  /** Runs the tasks that waited for all queues together, once the queues have become short enough. */
  relieve(): void {
    if (!this.#relieved) return;
    this.#relieved = false;
    for (const stream of [...this.#waiters.keys()]) this.wake(stream);
  }

  clear(): void {
    this.#queues.clear();
    this.#waiters.clear();
    this.#pullers.clear();
    this.#bytes = 0;
  }

  #subtract(bytes: number): void {
    const wasTooMuch = this.#bytes >= this.#highWater;
    this.#bytes -= bytes;
    if (wasTooMuch && this.#bytes < this.#highWater) this.#relieved = true;
  }
}
