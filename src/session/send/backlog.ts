import { LazyMap } from '../../wire/lazy.js';
import type { Limits } from '../../wire/limits.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { Slicer } from '../../wire/slicer.js';
import { StreamQueue } from './stream-queue.js';
import type { Share } from '../base/share.js';
import { Waiters } from '../base/waiters.js';

/** A stream whose queue is below this takes more without waiting, in bytes. */
export const STREAM_ROOM_BYTES = 256 * 1024;
/** When all queues together are full, a stream with nothing queued still adds this much, in bytes: it has ignored nothing. */
export const SPARED_BYTES = 16 * 1024;

/** What a stream had queued when it was withdrawn. */
export interface Unsent {
  readonly frames: readonly OutgoingFrame[];
  /** Tasks that wait until there is room for more. */
  readonly waiters: readonly (() => void)[];
}

/** The queues that are not empty, by stream. */
type StreamQueues = Pick<LazyMap<number, StreamQueue>, 'size' | 'has' | 'get' | 'keys' | typeof Symbol.iterator>;

/** What waits on all streams: frames for their turn, and tasks for room. */
export class Backlog {
  readonly #queues = new LazyMap<number, StreamQueue>();
  /** Tasks that wait for room, by stream. */
  readonly #waiters = new Waiters();
  /** Tasks that wait to be asked for the next frame, by stream. */
  readonly #pullers = new Waiters();
  #bytes = 0;
  /** Whether all queues together have become short enough since the last look at those who wait for that. */
  #relieved = false;

  /** All queues together are short enough below this, in bytes. */
  readonly #highWater: number;

  constructor(
    private readonly limits: Limits,
    private readonly share: Share | null = null,
  ) {
    this.#highWater = Math.min(limits.sendHighWaterBytes, limits.maxUnsentBytes);
  }

  /** In the order of their turns. A new one comes last, so opens leave in the order in which they were added. */
  get queues(): StreamQueues {
    return this.#queues;
  }

  /** Bytes of payload that wait, on all streams. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param slices those of the frame, where it has been cut already */
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

  /** So many bytes of a queue have left: it is the next stream's turn. */
  taken(stream: number, queue: StreamQueue, bytes: number): void {
    this.#subtract(bytes);
    // Alone, its turn comes round at once.
    if (!queue.empty && this.#queues.size === 1) return;
    this.#queues.delete(stream);
    if (!queue.empty) this.#queues.set(stream, queue);
  }

  /** Forgets what a stream has queued. {@link release} is due when its owner has been told. */
  drop(stream: number): void {
    const queue = this.#queues.get(stream);
    if (queue === undefined) return;
    this.#queues.delete(stream);
    this.#subtract(queue.bytes);
  }

  /** Forgets every stream whose open has not left; {@link release} is due. */
  dropUnopened(): void {
    for (const [stream, queue] of this.#queues) if (queue.unopened) this.drop(stream);
  }

  /** Takes back what a stream has queued of which nothing has left, and those who wait on it; {@link release} is due. */
  takeUnsent(stream: number): Unsent {
    const frames = this.#queues.get(stream)?.takeAll() ?? [];
    this.drop(stream);
    return { frames, waiters: [...this.#waiters.take(stream), ...this.#pullers.take(stream)] };
  }

  /** A stream's end has been told: those who wait on it go on, and so do those who waited for what it had queued. */
  release(stream: number): void {
    this.#waiters.run(stream);
    this.pull(stream);
    this.relieve();
  }

  /** Whether `stream` may add more without growing a queue that is already long. */
  hasRoom(stream: number): boolean {
    if (this.share?.mustWait() === true) return false;
    const queue = this.#queues.get(stream);
    return (queue === undefined || queue.bytes < STREAM_ROOM_BYTES) && this.#bytes < this.#highWater;
  }

  /**
   * Whether a stream that did not wait for room must fail for adding so many bytes: all queues together hold `maxUnsentBytes`. One with
   * nothing queued is spared for up to {@link SPARED_BYTES}, since others filled them, until they hold `sendHighWaterBytes` more.
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

  /** Whether any stream waits for the socket to take more, and may be asked. */
  get pulled(): boolean {
    return this.#pullers.size > 0 && this.share?.mustWait() !== true;
  }

  /** Whether a stream has something queued, or waits to be asked for the next. */
  hasMore(stream: number): boolean {
    return this.#queues.has(stream) || this.#pullers.has(stream);
  }

  /** Lets the stream that has waited longest to be asked go on, of those with nothing queued that `accept` takes; `false` where there is none. */
  pullNext(accept: (stream: number) => boolean): boolean {
    if (!this.pulled) return false;
    const stream = this.#pullers.first((waiting) => !this.#queues.has(waiting) && accept(waiting));
    return stream !== undefined && this.pull(stream);
  }

  /** Lets a stream go on that waits to be asked; `false` where it does not. */
  pull(stream: number): boolean {
    return this.#pullers.run(stream);
  }

  /** Runs the tasks that wait for room on `stream`, if it has some. */
  wake(stream: number): void {
    if (this.#waiters.size > 0 && this.hasRoom(stream)) this.#waiters.run(stream);
  }

  /** Other connections have made room: the tasks that waited for it run at the next {@link relieve}. */
  roomMade(): void {
    this.#relieved = true;
  }

  /** Runs the tasks that waited for all queues together, once these have become short enough. */
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
