import { LazyMap } from '../wire/lazy.js';
import type { Limits } from '../wire/limits.js';
import type { OutgoingFrame } from '../wire/outgoing.js';
import type { Slicer } from '../wire/slicer.js';
import { Lane } from './lane.js';
import { Waiters } from './waiters.js';

/** A stream whose queue is below this takes more without waiting, in bytes. */
export const LANE_ROOM_BYTES = 256 * 1024;
/** When all queues together are full, a stream with nothing queued still adds this much, in bytes: it has ignored nothing. */
export const SPARED_BYTES = 16 * 1024;

/** What a stream had queued when it was withdrawn. */
export interface Unsent {
  readonly frames: readonly OutgoingFrame[];
  /** Tasks that wait until there is room for more. */
  readonly waiters: readonly (() => void)[];
}

/** The lanes that are not empty, by stream. */
export type Lanes = Pick<LazyMap<number, Lane>, 'size' | 'has' | 'get' | 'keys' | typeof Symbol.iterator>;

const NONE: readonly never[] = [];

/** What waits on all streams: frames for their turn, and tasks for room. */
export class Backlog {
  readonly #lanes = new LazyMap<number, Lane>();
  /** For room in a stream's queue. */
  readonly #waiters = new Waiters();
  /** For nothing to be queued at all. */
  readonly #pullers = new Waiters();
  #bytes = 0;
  /** Whether all queues together have become short enough since the last look at those who wait for that. */
  #relieved = false;

  /** All queues together are short enough below this, in bytes. */
  readonly #highWater: number;

  constructor(private readonly limits: Limits) {
    this.#highWater = Math.min(limits.sendHighWaterBytes, limits.maxUnsentBytes);
  }

  /** In the order of their turns. A new one comes last, so opens leave in the order in which they were added. */
  get lanes(): Lanes {
    return this.#lanes;
  }

  /** Bytes of payload that wait, on all streams. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param slices those of the frame, where it has been cut already */
  add(stream: number, frame: OutgoingFrame, slices: Slicer | null): void {
    const lane = this.#lanes.get(stream);
    if (lane !== undefined) {
      this.#bytes += lane.append(frame);
      return;
    }
    const made = new Lane(frame, slices);
    this.#lanes.set(stream, made);
    this.#bytes += made.bytes;
  }

  /** So many bytes of a lane have left: it is the next one's turn. */
  taken(stream: number, lane: Lane, bytes: number): void {
    this.#give(bytes);
    if (!lane.empty && this.#lanes.size === 1) return;
    this.#lanes.delete(stream);
    if (!lane.empty) this.#lanes.set(stream, lane);
  }

  /** Forgets what a stream has queued. {@link release} is due when its owner has been told. */
  drop(stream: number): void {
    const lane = this.#lanes.get(stream);
    if (lane === undefined) return;
    this.#lanes.delete(stream);
    this.#give(lane.bytes);
  }

  /** Forgets every stream whose open has not left; {@link release} is due. */
  dropUnopened(): void {
    for (const [stream, lane] of this.#lanes) if (lane.unopened) this.drop(stream);
  }

  /** Takes back what a stream has queued of which nothing has left, and those who wait on it; {@link release} is due. */
  withdraw(stream: number): Unsent {
    const frames = this.#lanes.get(stream)?.takeAll() ?? NONE;
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
    const lane = this.#lanes.get(stream);
    return (lane === undefined || lane.bytes < LANE_ROOM_BYTES) && this.#bytes < this.#highWater;
  }

  /** Whether a value of so many bytes, which has not waited, is too much: what others have queued ends no stream that waits for its own. */
  overflowsWith(stream: number, bytes: number): boolean {
    const { maxUnsentBytes, sendHighWaterBytes } = this.limits;
    if (this.#bytes < maxUnsentBytes) return false;
    return bytes > SPARED_BYTES || this.#lanes.has(stream) || this.#bytes >= maxUnsentBytes + sendHighWaterBytes;
  }

  /** Runs `task` once the stream's queue is below 256 KiB and all queues together below `sendHighWaterBytes`. */
  whenRoom(stream: number, task: () => void): void {
    if (this.hasRoom(stream)) {
      task();
      return;
    }
    this.#waiters.add(stream, task);
  }

  /** Keeps a task for {@link pullNext}. */
  whenIdle(stream: number, task: () => void): void {
    this.#pullers.add(stream, task);
  }

  /** Whether any stream waits for the socket to take more. */
  get pulled(): boolean {
    return this.#pullers.size > 0;
  }

  /** Lets the stream go on that has waited longest to be asked, of those with nothing queued; `false` where there is none. */
  pullNext(): boolean {
    const stream = this.#pullers.first((waiting) => !this.#lanes.has(waiting));
    return stream !== undefined && this.pull(stream);
  }

  /** Lets a stream go on that waits to be asked; `false` where it does not. */
  pull(stream: number): boolean {
    return this.#pullers.run(stream);
  }

  /** Lets those go on who wait on a stream, if it has room, … */
  wake(stream: number): void {
    if (this.#waiters.size > 0 && this.hasRoom(stream)) this.#waiters.run(stream);
  }

  /** … and those who waited for all queues together, if these have become short enough. */
  relieve(): void {
    if (!this.#relieved) return;
    this.#relieved = false;
    for (const stream of [...this.#waiters.keys()]) this.wake(stream);
  }

  clear(): void {
    this.#lanes.clear();
    this.#waiters.clear();
    this.#pullers.clear();
    this.#bytes = 0;
  }

  #give(bytes: number): void {
    const wasTooMuch = this.#bytes >= this.#highWater;
    this.#bytes -= bytes;
    if (wasTooMuch && this.#bytes < this.#highWater) this.#relieved = true;
  }
}
