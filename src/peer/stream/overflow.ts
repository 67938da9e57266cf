import { currentContext } from '../../transport/async-context.js';
import { Fifo } from '../../wire/fifo.js';
import { checkNumber, optionError } from '../../wire/check.js';

/**
 * What becomes of a value that an Observable pushes while the queue of its stream is full (256 KiB of the stream, or
 * `sendHighWaterBytes` of all):
 *
 * - `'buffer'` queues it all the same; a stream that goes on beyond `maxUnsentBytes` fails with QueueOverflowError.
 * - `'latest'` keeps it instead of the one kept before, and sends it when there is room.
 * - `'error'` fails the stream with QueueOverflowError.
 * - `{ dropOldest: n }` keeps the last `n`, and sends them when there is room.
 *
 * What is kept is encoded when it is sent. Iterables and streams are pulled, so they never overflow.
 *
 * `'latest'` and `dropOldest` bound what is queued, not how old it is: nothing is dropped before 256 KiB of the stream, 1 MiB
 * of the socket and the kernel's buffers are full, and the reader gets all of that first. With `spend` of `withCredit` the queue
 * is full as soon as the credit is spent, so that a slow reader gets few values, and new ones.
 *
 * @example
 * ```ts
 * prices$.pipe(withCredit(1).spend(stream, { overflow: 'latest' }));   // the newest price, each time the reader asks for one
 * ```
 */
export type Overflow = 'buffer' | 'latest' | 'error' | { readonly dropOldest: number };

/** Takes values while it has room for them. */
export interface Outlet {
  /** Whether nothing is taken any more. */
  readonly closed: boolean;
  /** Whether the queue is below its high-water mark: a pushed value is sent. */
  readonly hasRoom: boolean;
  /** Whether `send` without room queues, up to `maxUnsentBytes`; if not, the overflow buffer keeps the value. */
  readonly queues: boolean;
  /** Whether the hard limit is reached: even a value pulled on demand has to wait. */
  readonly full: boolean;
  /** Runs `task` once there is room, or nothing to wait for any more. */
  whenRoom(task: () => void): void;
  /** Whether a value sent now leaves at once; only then is the next one pulled. */
  readonly hasDemand: boolean;
  /** Runs `task` once it is, or there is nothing to wait for any more. */
  whenDemand(task: () => void): void;
  send(value: unknown): void;
  complete(): void;
  fail(error: unknown): void;
  /** A value came for which there is neither room nor a place to wait. */
  overflow(): void;
}

/**
 * Returns the policy, which is `'buffer'` by default.
 *
 * @throws TypeError for an unknown one
 */
export function checkOverflow(overflow: Overflow = 'buffer'): Overflow {
  if (typeof overflow === 'object' && (overflow as unknown) !== null) checkNumber('overflow.dropOldest', overflow.dropOldest, 1);
  else if (overflow !== 'buffer' && overflow !== 'latest' && overflow !== 'error')
    throw optionError('overflow', "'buffer', 'latest', 'error' or { dropOldest }", overflow);
  return overflow;
}

/** Stands between what pushes and an outlet, and applies a policy to what finds no room. */
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

  /** Nothing is pushed any more; what is kept still goes out. */
  complete(): void {
    this.#completed = true;
    if (this.#kept.length === 0) this.outlet.complete();
  }

  /** What is kept is encoded in the async context of the source: another call may make the room. */
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
