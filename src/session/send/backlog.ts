import { Fifo } from '../../wire/fifo.js';
import type { Frame } from '../../wire/frame.js';
import { LazyMap } from '../../util/collections.js';
import type { Limits } from '../../wire/limits.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { Pulls } from './pulls.js';
import type { Room } from './room.js';
import { StreamQueue } from './stream-queue.js';
import type { Cut } from './stream-queue.js';
import type { Share } from '../base/share.js';

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
  /** Keeps the tasks that wait for room. Made by `roomIn`, for the first sender that asks. */
  room: Room | null = null;
  /** Keeps the streams that wait to be pulled. Made by `pullsOf`, for the first one. */
  pulls: Pulls | null = null;

  constructor(
    readonly limits: Limits,
    readonly share: Share | null = null,
  ) {}

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
    return { frames: queue?.takeAll() ?? [], waiters: [...(this.room?.take(stream) ?? []), ...(this.pulls?.take(stream) ?? [])] };
  }

  /** The stream's owner knows its end. Runs the tasks that wait on the stream, and those that wait for the room of its queue. */
  release(stream: number): void {
    this.room?.run(stream);
    this.pulls?.run(stream);
    this.room?.relieve();
  }

  /** Returns whether a stream has queued frames, or waits to be pulled. */
  hasMore(stream: number): boolean {
    return this.#queues.has(stream) || this.pulls?.has(stream) === true;
  }

  clear(): void {
    this.#control.clear();
    this.#queues.clear();
    this.room = this.pulls = null;
    this.frames = this.bytes = 0;
  }

  #subtract(frames: number, bytes: number): void {
    this.frames -= frames;
    this.bytes -= bytes;
    this.room?.freed(bytes);
  }
}
