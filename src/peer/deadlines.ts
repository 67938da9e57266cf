import { asyncScheduler } from 'rxjs';
import type { Subscription } from 'rxjs';
import { LONGEST_TIMER_MS } from '../session/patient-timer.js';

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
class DeadlineQueue {
  readonly #end = new Deadline(NOTHING, Infinity, this);

  constructor(readonly timeoutMs: number) {}

  /** The one that expires first, or one that never does. */
  get first(): Deadline {
    return this.#end.later;
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
  /** By time-out in ms. */
  readonly #queues = new Map<number, DeadlineQueue>();
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
    const deadline = this.#queueOf(timeoutMs).add(item, at);
    if (at < this.#armedFor) this.#arm(at);
    return deadline;
  }

  /** Lifts a deadline, if it has not expired. */
  lift(deadline: Deadline): void {
    deadline.leave();
    this.#drop(deadline.queue);
    if (this.#queues.size === 0) this.#disarm();
  }

  #queueOf(timeoutMs: number): DeadlineQueue {
    const queue = this.#queues.get(timeoutMs) ?? new DeadlineQueue(timeoutMs);
    if (queue.empty) this.#queues.set(timeoutMs, queue);
    return queue;
  }

  #drop(queue: DeadlineQueue): void {
    if (queue.empty && this.#queues.get(queue.timeoutMs) === queue) this.#queues.delete(queue.timeoutMs);
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
    for (const queue of [...this.#queues.values()]) {
      for (let due = queue.first; due.at <= now; due = queue.first) {
        due.leave();
        due.item.expire(queue.timeoutMs);
      }
      this.#drop(queue);
    }
    const next = Math.min(...[...this.#queues.values()].map(({ first }) => first.at));
    if (next !== Infinity) this.#arm(next);
  }
}
