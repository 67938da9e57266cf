import { currentContext } from '../../util/async-context.js';
import { Fifo } from '../../wire/fifo.js';
import { checkNumber, optionError } from '../../wire/check.js';

/**
 * The policy for a value that an Observable pushes while the queue of its stream is full. A queue is full at 256 KiB of the stream, or at
 * `sendHighWaterBytes` of all streams:
 *
 * - `'buffer'` queues the value all the same; a stream that goes on beyond `maxUnsentBytes` fails with QueueOverflowError.
 * - `'latest'` keeps the value instead of the one kept before, and sends it once there is room.
 * - `'error'` fails the stream with QueueOverflowError.
 * - `{ dropOldest: n }` keeps the last `n` values, and sends them once there is room.
 *
 * A kept value is encoded when it is sent. Iterables and streams are pulled, so they never overflow.
 *
 * `'latest'` and `dropOldest` bound the number of queued values, not their age. They drop nothing before three buffers are full: 256 KiB of
 * the stream, 1 MiB of the socket, and the kernel's. The reader receives all of these first. With `spend` of `withCredit` the queue is full
 * as soon as the credit is spent. So a slow reader receives few values, and new ones.
 *
 * @example
 * ```ts
 * prices$.pipe(withCredit(1).spend(stream, { overflow: 'latest' }));   // the newest price, each time the reader asks for one
 * ```
 */
export type Overflow =
  | 'buffer'
  | 'latest'
  | 'error'
  | {
      /** How many values stay. */
      readonly dropOldest: number;
    };

/** Accepts values while it has room for them. */
export interface Outlet {
  /** Whether the outlet accepts no more values. */
  readonly closed: boolean;
  /** Whether the queue is below its high-water mark, so that a pushed value is sent. */
  readonly hasRoom: boolean;
  /** Whether `send` queues a value without room, up to `maxUnsentBytes`. If not, the overflow buffer keeps the value. */
  readonly queues: boolean;
  /** Whether the hard limit is reached, so that even a pulled value has to wait. */
  readonly full: boolean;
  /** Runs `task` once there is room, or once the outlet has closed. */
  whenRoom(task: () => void): void;
  /** Whether a value sent now leaves at once. Only then is the next value pulled. */
  readonly hasDemand: boolean;
  /** Runs `task` once {@link hasDemand} is true, or once the outlet has closed. */
  whenDemand(task: () => void): void;
  send(value: unknown): void;
  complete(): void;
  fail(error: unknown): void;
  /** A value came, but there is neither room nor a place to wait. */
  overflow(): void;
}

/**
 * Returns the policy, which is `'buffer'` by default.
 *
 * @throws TypeError for an unknown policy
 */
export function checkOverflow(overflow: Overflow = 'buffer'): Overflow {
  if (typeof overflow === 'object' && (overflow as unknown) !== null) checkNumber('overflow.dropOldest', overflow.dropOldest, 1);
  else if (overflow !== 'buffer' && overflow !== 'latest' && overflow !== 'error')
    throw optionError('overflow', "'buffer', 'latest', 'error' or { dropOldest }", overflow);
  return overflow;
}

/** Passes values of a pushing source to an outlet, and applies the policy to values without room. */
export class OverflowBuffer {
  readonly #kept = new Fifo<{ readonly value: unknown }>();
  readonly #places: number;
  readonly #passesOn: boolean;
  #completed = false;

  constructor(
    private readonly outlet: Outlet,
    overflow: Overflow,
  ) {
    this.#places = typeof overflow === 'object' ? overflow.dropOldest : { buffer: Infinity, latest: 1, error: 0 }[overflow];
    this.#passesOn = overflow === 'buffer' && outlet.queues;
  }

  next(value: unknown): void {
    const { outlet } = this;
    const isFirst = this.#kept.length === 0;
    if (this.#passesOn || (isFirst && outlet.hasRoom)) {
      outlet.send(value);
      return;
    }
    if (this.#places === 0) {
      outlet.overflow();
      return;
    }
    this.#kept.push({ value });
    if (this.#kept.length > this.#places) this.#kept.shift();
    if (isFirst) this.#sendWhenRoom();
  }

  /** The source has completed. Kept values still leave. */
  complete(): void {
    this.#completed = true;
    if (this.#kept.length === 0) this.outlet.complete();
  }

  /** Sends kept values once there is room, in the async context of the source, because another call may make the room. */
  #sendWhenRoom(): void {
    const context = currentContext();
    this.outlet.whenRoom(() => {
      context(this.#sendKept);
    });
  }

  readonly #sendKept = (): void => {
    const { outlet } = this;
    while (outlet.hasRoom && !outlet.closed) {
      const kept = this.#kept.shift();
      if (kept === undefined) break;
      outlet.send(kept.value);
    }
    if (outlet.closed) this.#kept.clear();
    else if (this.#kept.length > 0) this.#sendWhenRoom();
    else if (this.#completed) outlet.complete();
  };
}
