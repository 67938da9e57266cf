import { asyncScheduler } from 'rxjs';
import type { Subscription } from 'rxjs';
import { LONGEST_TIMER_MS } from '../wire/longest-timer.js';
import { Heap } from '../wire/heap.js';
import type { Ranked } from '../wire/heap.js';

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

  /** Puts it in front of another: behind all, where that is the queue's own. */
  insertBefore(next: Deadline): void {
    this.#earlier = next.#earlier;
    this.#later = next;
    next.#earlier.#later = next.#earlier = this;
  }

  /** Takes it out, if it is still in; it holds on to nobody any more. */
  leave(): void {
    this.#earlier.#later = this.#later;
    this.#later.#earlier = this.#earlier;
    this.#earlier = this.#later = this;
  }
}

/** The deadlines of one time-out, in the order of their expiry. A ring, so that one is put in and taken out without a look at others. */
class DeadlineQueue implements Ranked {
  place = 0;
  readonly #end = new Deadline(NOTHING, Infinity, this);

  constructor(readonly timeoutMs: number) {}

  /** The one that expires first, or one that never does. */
  get first(): Deadline {
    return this.#end.later;
  }

  get rank(): number {
    return this.first.at;
  }

  get empty(): boolean {
    return this.first === this.#end;
  }

  add(item: Deadlined, at: number): Deadline {
    const deadline = new Deadline(item, at, this);
    deadline.insertBefore(this.#end);
    return deadline;
  }
}

/** The deadlines of one peer's calls, with one timer for all. Calls of the same time-out end in the order they began. */
export class Deadlines {
  /** Those that are not empty, by time-out in ms … */
  readonly #queues = new Map<number, DeadlineQueue>();
  /** … and by who expires first. */
  readonly #order = new Heap<DeadlineQueue>();
  #timer: Subscription | null = null;
  #armedFor = Infinity;

  /**
   * Sets a deadline `timeoutMs` from now, which has to be {@link lift lifted}.
   *
   * @returns `null` for 0 and `Infinity`, which are none
   */
  add(item: Deadlined, timeoutMs: number): Deadline | null {
    if (timeoutMs <= 0 || timeoutMs === Infinity) return null;
    const at = asyncScheduler.now() + timeoutMs;
    const known = this.#queues.get(timeoutMs);
    const queue = known ?? new DeadlineQueue(timeoutMs);
    const deadline = queue.add(item, at);
    if (known === undefined) {
      this.#queues.set(timeoutMs, queue);
      this.#order.add(queue);
    }
    if (at < this.#armedFor) this.#arm(at);
    return deadline;
  }

  /** Lifts a deadline, if it has not expired. */
  lift(deadline: Deadline): void {
    this.#take(deadline);
    if (this.#order.lowest === undefined) this.#disarm();
  }

  #take(deadline: Deadline): void {
    const { queue } = deadline;
    deadline.leave();
    // Where it has expired its queue may be gone, and another in its place.
    if (this.#queues.get(queue.timeoutMs) !== queue) return;
    if (!queue.empty) this.#order.move(queue);
    else {
      this.#queues.delete(queue.timeoutMs);
      this.#order.delete(queue);
    }
  }

  #arm(at: number): void {
    this.#disarm();
    this.#armedFor = at;
    const rest = Math.min(LONGEST_TIMER_MS, Math.max(0, at - asyncScheduler.now()));
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
    const now = asyncScheduler.now();
    let queue = this.#order.lowest;
    for (; queue !== undefined && queue.rank <= now; queue = this.#order.lowest) {
      const { first, timeoutMs } = queue;
      this.#take(first);
      first.item.expire(timeoutMs);
    }
    if (queue !== undefined) this.#arm(queue.rank);
  }
}
