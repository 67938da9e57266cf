import { Fifo } from '../../wire/fifo.js';
import type { Frame } from '../../wire/frame.js';
import { LazyMap } from '../../wire/lazy.js';
import type { Limits } from '../../wire/limits.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import { StreamQueue } from './stream-queue.js';
import type { Cut } from './stream-queue.js';
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

/** The waiting frames and tasks of one connection. Frames wait for their turn, tasks wait for room. Only the backlog changes its counts. */
export class Backlog {
  /** How many frames wait for their turn, control frames too. A frame that has left in part is one. */
  frames = 0;
  /** Queued bytes of payload of all streams. */
  bytes = 0;
  readonly #queues = new LazyMap<number, StreamQueue>();
  /** The queues in the order of their turns. A new queue comes last, so opens leave in the order in which they were added. */
  readonly queues: StreamQueues = this.#queues;
  readonly #control = new Fifo<OutgoingFrame>();
  /** Tasks that wait until the scheduler pulls the next frame, by stream. */
  readonly pullers = new Waiters();
  /** Tasks that wait for room, by stream. */
  readonly #waiters = new Waiters();
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

  /** Queues a frame that goes ahead of all streams. */
  addAhead(frame: OutgoingFrame): void {
    this.frames++;
    this.#control.push(frame);
  }

  /** Takes the next frame that goes ahead of all streams, if any. */
  takeAhead(): OutgoingFrame | undefined {
    const frame = this.#control.shift();
    if (frame !== undefined) this.frames--;
    return frame;
  }

  /** Whether a frame waits that goes ahead of all streams. */
  get hasAhead(): boolean {
    return this.#control.length > 0;
  }

  /** Queues a frame of a stream. */
  add(stream: number, frame: OutgoingFrame): void {
    let queue = this.#queues.get(stream);
    if (queue === undefined) this.#queues.set(stream, (queue = new StreamQueue()));
    const bytes = queue.append(frame);
    this.frames++;
    this.bytes += bytes;
    this.share?.queued(bytes);
  }

  /**
   * Takes the next frame or slice of a queue. The next stream then has its turn.
   *
   * @throws the same as {@link StreamQueue.take}
   */
  take(stream: number, queue: StreamQueue, cut: Cut): Frame {
    const { frames, bytes } = queue;
    const slice = queue.take(cut);
    this.#subtract(frames - queue.frames, bytes - queue.bytes);
    // The only queue has the next turn too.
    if (queue.frames > 0 && this.#queues.size === 1) return slice;
    this.#queues.delete(stream);
    if (queue.frames > 0) this.#queues.set(stream, queue);
    return slice;
  }

  /** Drops a stream's queued frames. The caller calls {@link release} once the stream's owner knows. */
  drop(stream: number): void {
    const queue = this.#queues.get(stream);
    if (queue === undefined) return;
    this.#queues.delete(stream);
    this.#subtract(queue.frames, queue.bytes);
  }

  /** Drops the frames of every stream whose open has not left. The caller calls {@link release} afterwards. */
  dropUnopened(): void {
    for (const [stream, queue] of this.#queues) if (queue.unopened) this.drop(stream);
  }

  /** Withdraws the frames and waiting tasks of an unsent stream. The caller calls {@link release} afterwards. */
  takeUnsent(stream: number): Unsent {
    const queue = this.#queues.get(stream);
    this.drop(stream);
    return { frames: queue?.takeAll() ?? [], waiters: [...this.#waiters.take(stream), ...this.pullers.take(stream)] };
  }

  /** The stream's owner knows its end. Runs the tasks that wait on the stream, and those that wait for the room of its queue. */
  release(stream: number): void {
    this.#waiters.run(stream);
    this.pullers.run(stream);
    this.relieve();
  }

  /** Returns whether `stream` may add more without growing a long queue. */
  hasRoom(stream: number): boolean {
    if (this.share?.mustWait() === true) return false;
    const queue = this.#queues.get(stream);
    return (queue === undefined || queue.bytes < STREAM_ROOM_BYTES) && this.bytes < this.#highWater;
  }

  /**
   * Returns whether a stream must fail if it adds so many bytes without waiting for room. That is so once all queues together hold
   * `maxUnsentBytes`. A stream with an empty queue did not fill them, so it may still add up to {@link SPARED_BYTES}. Even this exception ends
   * once they hold `sendHighWaterBytes` more.
   */
  overflowsWith(stream: number, bytes: number): boolean {
    const { maxUnsentBytes, sendHighWaterBytes } = this.limits;
    if (this.share?.overflowsWith(bytes) === true) return true;
    if (this.bytes < maxUnsentBytes) return false;
    return bytes > SPARED_BYTES || this.#queues.has(stream) || this.bytes >= maxUnsentBytes + sendHighWaterBytes;
  }

  /** Runs `task` once the stream's queue is below 256 KiB and all queues together below `sendHighWaterBytes`. */
  whenRoom(stream: number, task: () => void): void {
    if (this.hasRoom(stream)) task();
    else this.#waiters.add(stream, task);
  }

  /** Whether any stream waits until the socket takes more, and may be pulled. */
  get pulled(): boolean {
    return this.pullers.size > 0 && this.share?.mustWait() !== true;
  }

  /** Returns whether a stream has queued frames, or waits to be pulled. */
  hasMore(stream: number): boolean {
    return this.#queues.has(stream) || this.pullers.has(stream);
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
    this.#control.clear();
    this.#queues.clear();
    this.#waiters.clear();
    this.pullers.clear();
    this.frames = this.bytes = 0;
  }

  #subtract(frames: number, bytes: number): void {
    const wasTooMuch = this.bytes >= this.#highWater;
    this.frames -= frames;
    this.bytes -= bytes;
    if (wasTooMuch && this.bytes < this.#highWater) this.#relieved = true;
  }
}
