import { asyncScheduler } from 'rxjs';
import type { Subscription } from 'rxjs';
import { steadyNow } from '../../transport/steady-clock.js';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import { Heap } from '../../wire/heap.js';
import type { Ranked } from '../../wire/heap.js';

/** The last call clears the timer so many times. Afterwards the timer stays. */
const TIMER_CLEARS = 100;

/** An item with a deadline. */
export interface Deadlined {
  /** The deadline has passed. */
  expire(timeoutMs: number): void;
}

const NOTHING: Deadlined = {
  expire() {
    // The sentinel never expires.
  },
};

/** The deadline of one item, linked between the previous and the next deadline of the same time-out. */
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

  /** Inserts this deadline before `next`. Before the sentinel means at the end of the queue. */
  insertBefore(next: Deadline): void {
    this.#earlier = next.#earlier;
    this.#later = next;
    next.#earlier.#later = next.#earlier = this;
  }

  /** Removes this deadline from its list, if it is still in. Afterwards it references no other deadline. */
  unlink(): void {
    this.#earlier.#later = this.#later;
    this.#later.#earlier = this.#earlier;
    this.#earlier = this.#later = this;
  }
}

/**
 * The deadlines of one time-out, in the order of their expiry. A circular doubly linked list with a sentinel, so that insertion and removal
 * are O(1).
 */
class DeadlineQueue implements Ranked {
  place = 0;
  readonly #sentinel = new Deadline(NOTHING, Infinity, this);

  constructor(readonly timeoutMs: number) {}

  /** The deadline that expires first, or the sentinel, which never expires. */
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
 * The deadlines of one peer's calls, with one timer for all. Calls of the same time-out expire in the order in which they began.
 *
 * The last call clears the timer. Setting and clearing a timer costs a tenth of a single call, and a following call needs the timer again.
 * So after many such calls the timer stays, until it is due or the peer ends.
 */
export class Deadlines {
  /** Queues that are not empty, or have a timer that stays: by time-out in ms … */
  readonly #queues = new Map<number, DeadlineQueue>();
  /** … and in the order of their first expiry. */
  readonly #order = new Heap<DeadlineQueue>();
  #timer: Subscription | null = null;
  #armedFor = Infinity;
  #clears = 0;
  #closed = false;

  /**
   * Sets a deadline `timeoutMs` from now. The caller has to {@link cancel} it.
   *
   * @returns the deadline, or `null` for 0 and `Infinity`, which mean no deadline
   */
  add(item: Deadlined, timeoutMs: number): Deadline | null {
    if (timeoutMs <= 0 || timeoutMs === Infinity) return null;
    const now = steadyNow();
    const known = this.#queues.get(timeoutMs);
    const queue = known ?? new DeadlineQueue(timeoutMs);
    const deadline = queue.add(item, now + timeoutMs);
    if (known === undefined) {
      this.#queues.set(timeoutMs, queue);
      this.#order.add(queue);
    } else if (queue.first === deadline) this.#order.move(queue);
    if (deadline.at < this.#armedFor) this.#arm(deadline.at, now);
    return deadline;
  }

  /** Cancels a deadline, if it has not expired. */
  cancel(deadline: Deadline): void {
    const { queue } = deadline;
    deadline.unlink();
    // After its expiry its queue may be removed, and another queue may have replaced it.
    if (this.#queues.get(queue.timeoutMs) !== queue) return;
    if (!queue.empty) this.#order.move(queue);
    else if (this.#closed || this.#queues.size > 1 || ++this.#clears <= TIMER_CLEARS) this.#remove(queue);
  }

  /** The peer has ended. From now on no timer stays. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#queues.values()) if (queue.empty) this.#remove(queue);
  }

  #remove(queue: DeadlineQueue): void {
    this.#queues.delete(queue.timeoutMs);
    this.#order.delete(queue);
    if (this.#order.lowest === undefined) this.#disarm();
  }

  #arm(at: number, now: number): void {
    this.#timer?.unsubscribe();
    this.#armedFor = at;
    const rest = Math.min(LONGEST_TIMER_MS, Math.max(0, at - now));
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
    } else if (queue !== undefined) this.#arm(queue.rank, now);
  }
}
