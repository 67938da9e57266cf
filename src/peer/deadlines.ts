import { asyncScheduler, timer } from 'rxjs';
import type { Subscription } from 'rxjs';
import { LONGEST_TIMER_MS } from '../session/patient-timer.js';

/** Something that may be late. */
export interface Deadlined {
  /** The time is up. */
  expire(timeoutMs: number): void;
}

interface Entry {
  readonly item: Deadlined;
  readonly at: number;
}

/** The deadlines of one peer's calls, with one timer for all. Calls of the same time-out end in the order they began. */
export class Deadlines {
  /** By time-out in ms; each in the order of expiry. */
  readonly #queues = new Map<number, Set<Entry>>();
  #timer: Subscription | null = null;
  #armedFor = Infinity;

  /** Sets a deadline `timeoutMs` from now; gives the way to lift it. */
  add(item: Deadlined, timeoutMs: number): () => void {
    const entry: Entry = { item, at: asyncScheduler.now() + timeoutMs };
    const queue = this.#queues.get(timeoutMs) ?? new Set();
    this.#queues.set(timeoutMs, queue.add(entry));
    if (entry.at < this.#armedFor) this.#arm(entry.at);
    return () => {
      queue.delete(entry);
      if (queue.size > 0 || this.#queues.get(timeoutMs) !== queue) return;
      this.#queues.delete(timeoutMs);
      if (this.#queues.size === 0) this.#disarm();
    };
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
      for (const entry of queue) {
        if (entry.at > now) break;
        queue.delete(entry);
        entry.item.expire(timeoutMs);
      }
      if (queue.size === 0 && this.#queues.get(timeoutMs) === queue) this.#queues.delete(timeoutMs);
    }
    const next = Math.min(...[...this.#queues.values()].map(earliest));
    if (next !== Infinity) this.#arm(next);
  }
}

function earliest(queue: ReadonlySet<Entry>): number {
  for (const { at } of queue) return at;
  return Infinity;
}
