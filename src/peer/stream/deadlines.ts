import { asyncScheduler } from 'rxjs';
import type { Subscription } from 'rxjs';
import { steadyNow } from '../../transport/steady-clock.js';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import { Heap } from '../../wire/heap.js';
import type { Ranked } from '../../wire/heap.js';

/** So many times the last call clears the timer, and from then on it stays. */
const TIMER_CLEARS = 100;

/** Something that may be late. */
export interface Deadlined {
  /** The time is up. */
  expire(timeoutMs: number): void;
}

const NOTHING: Deadlined = {
  expire() {
    // Never due.
  },
};

/** The deadline of one item, between those of the same time-out that expire before it and after it. */
export class Deadline {
  #earlier: Deadline = this;
  #later: Deadline = this;

  constructor(
    readonly item: Deadlined,
    readonly at: number,
    readonly queue: DeadlineQueue,
  ) {}

  get later(): Deadline {
    return this.#later;
  }

  /** Puts it in front of another; at the end of the queue, where that is the sentinel. */
  insertBefore(next: Deadline): void {
    this.#earlier = next.#earlier;
    this.#later = next;
    next.#earlier.#later = next.#earlier = this;
  }

  /** Takes it out, if it is still in; it holds on to nobody any more. */
  unlink(): void {
    this.#earlier.#later = this.#later;
    this.#later.#earlier = this.#earlier;
    this.#earlier = this.#later = this;
  }
}

/** The deadlines of one time-out, in the order of their expiry. A circular doubly linked list with a sentinel, so that insertion and removal are O(1). */
class DeadlineQueue implements Ranked {
  place = 0;
  readonly #sentinel = new Deadline(NOTHING, Infinity, this);

  constructor(readonly timeoutMs: number) {}

  /** The one that expires first, or one that never does. */
  get first(): Deadline {
    return this.#sentinel.later;
  }

  get rank(): number {
    return this.first.at;
  }

  get empty(): boolean {
    return this.first === this.#sentinel;
  }

  add(item: Deadlined, at: number): Deadline {
    const deadline = new Deadline(item, at, this);
    deadline.insertBefore(this.#sentinel);
    return deadline;
  }
}

/**
 * The deadlines of one peer's calls, with one timer for all. Calls of the same time-out end in the order they began.
 *
 * The last call clears the timer. Where one call follows another the next has use for it, and to set and clear one is a tenth of what a call
 * alone costs: after many such calls it stays, until it is due or the peer ends.
 */
export class Deadlines {
  /** Those that are not empty, or have a timer that stays: by time-out in ms … */
  readonly #queues = new Map<number, DeadlineQueue>();
  /** … and by who expires first. */
  readonly #order = new Heap<DeadlineQueue>();
  #timer: Subscription | null = null;
  #armedFor = Infinity;
  #clears = 0;
  #closed = false;

  /**
   * Sets a deadline `timeoutMs` from now, which has to be {@link cancel cancelled}.
   *
   * @returns `null` for 0 and `Infinity`, which are no deadline
   */
  add(item: Deadlined, timeoutMs: number): Deadline | null {
    if (timeoutMs <= 0 || timeoutMs === Infinity) return null;
    const at = steadyNow() + timeoutMs;
    const queue = this.#queues.get(timeoutMs) ?? this.#queue(timeoutMs);
    const isFirst = queue.empty;
    const deadline = queue.add(item, at);
    if (isFirst) this.#order.move(queue);
    if (at < this.#armedFor) this.#arm(at);
    return deadline;
  }

  /** Cancels a deadline, if it has not expired. */
  cancel(deadline: Deadline): void {
    const { queue } = deadline;
    deadline.unlink();
    // Where it has expired its queue may be gone, and another in its place.
    if (this.#queues.get(queue.timeoutMs) !== queue) return;
    if (!queue.empty) this.#order.move(queue);
    else if (this.#closed || this.#queues.size > 1 || ++this.#clears <= TIMER_CLEARS) this.#remove(queue);
  }

  /** The peer has ended: from here on no timer stays. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#queues.values()) if (queue.empty) this.#remove(queue);
  }

  #queue(timeoutMs: number): DeadlineQueue {
    const queue = new DeadlineQueue(timeoutMs);
    this.#queues.set(timeoutMs, queue);
    this.#order.add(queue);
    return queue;
  }

  #remove(queue: DeadlineQueue): void {
    this.#queues.delete(queue.timeoutMs);
    this.#order.delete(queue);
    if (this.#order.lowest === undefined) this.#disarm();
  }

  #arm(at: number): void {
    this.#disarm();
    this.#armedFor = at;
    const rest = Math.min(LONGEST_TIMER_MS, Math.max(0, at - steadyNow()));
    this.#timer = asyncScheduler.schedule(() => {
      this.#expire();
    }, rest);
  }

  #disarm(): void {
    this.#timer?.unsubscribe();
    this.#timer = null;
    this.#armedFor = Infinity;
  }

  #expire(): void {
    this.#disarm();
    const now = steadyNow();
    let queue = this.#order.lowest;
    for (; queue !== undefined && queue.rank <= now; queue = this.#order.lowest) {
      const { first, timeoutMs } = queue;
      first.unlink();
      if (queue.empty) this.#remove(queue);
      else this.#order.move(queue);
      first.item.expire(timeoutMs);
    }
    if (queue?.empty === true) {
      this.#remove(queue);
      this.#clears = 0;
    } else if (queue !== undefined) this.#arm(queue.rank);
  }
}
