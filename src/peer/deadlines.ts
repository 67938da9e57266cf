import { asyncScheduler, timer } from 'rxjs';
import type { Subscription } from 'rxjs';
import { LONGEST_TIMER_MS } from '../session/patient-timer.js';

/** Something that may be late. */
export interface Deadlined {
  /** The time is up. */
  expire(timeoutMs: number): void;
}

/** The deadlines of one peer's calls, with one timer for all. Calls of the same time-out end in the order they began. */
export class Deadlines {
  /** By time-out in ms: who may be late, and when, in the order of expiry. */
  readonly #queues = new Map<number, Map<Deadlined, number>>();
  #timer: Subscription | null = null;
  #armedFor = Infinity;

  /** Sets a deadline `timeoutMs` from now, which has to be {@link lift lifted}; 0 and `Infinity` are none. */
  add(item: Deadlined, timeoutMs: number): void {
    if (timeoutMs <= 0 || timeoutMs === Infinity) return;
    const at = asyncScheduler.now() + timeoutMs;
    const queue = this.#queues.get(timeoutMs);
    if (queue === undefined) this.#queues.set(timeoutMs, new Map([[item, at]]));
    else queue.set(item, at);
    if (at < this.#armedFor) this.#arm(at);
  }

  /** Lifts the deadline that was set for an item with the same time-out, if it has not expired. */
  lift(item: Deadlined, timeoutMs: number): void {
    const queue = this.#queues.get(timeoutMs);
    if (queue?.delete(item) !== true || queue.size > 0) return;
    this.#queues.delete(timeoutMs);
    if (this.#queues.size === 0) this.#disarm();
  }

  #arm(at: number): void {
    this.#disarm();
    this.#armedFor = at;
    this.#timer = timer(Math.min(LONGEST_TIMER_MS, Math.max(0, at - asyncScheduler.now()))).subscribe(() => {
      this.#expire();
    });
  }

  #disarm(): void {
    this.#timer?.unsubscribe();
    this.#timer = null;
    this.#armedFor = Infinity;
  }

  #expire(): void {
    this.#disarm();
    const now = asyncScheduler.now();
    for (const [timeoutMs, queue] of [...this.#queues]) {
      for (const [item, at] of queue) {
        if (at > now) break;
        queue.delete(item);
        item.expire(timeoutMs);
      }
      if (queue.size === 0 && this.#queues.get(timeoutMs) === queue) this.#queues.delete(timeoutMs);
    }
    const next = Math.min(...[...this.#queues.values()].map(earliest));
    if (next !== Infinity) this.#arm(next);
  }
}

function earliest(queue: ReadonlyMap<Deadlined, number>): number {
  for (const at of queue.values()) return at;
  return Infinity;
}
