import { asapScheduler } from 'rxjs';
import { dateTimestampProvider } from 'rxjs/internal/scheduler/dateTimestampProvider';
import { immediateProvider } from 'rxjs/internal/scheduler/immediateProvider';
import { intervalProvider } from 'rxjs/internal/scheduler/intervalProvider';
import { performanceTimestampProvider } from 'rxjs/internal/scheduler/performanceTimestampProvider';
import { timeoutProvider } from 'rxjs/internal/scheduler/timeoutProvider';
import { LONGEST_TIMER_MS } from '../util/time.js';

/** A task that is due at a time of the clock. */
interface Task {
  readonly run: () => void;
  /** In ms; -Infinity for a task that is due ahead of every timer. */
  readonly at: number;
  /** Ms between two runs of an interval; `null` for a task that runs once. */
  readonly everyMs: number | null;
}

type Handle = Parameters<typeof intervalProvider.clearInterval>[0];

/** A clock in memory for all schedulers of rxjs. Its time stands still until {@link step} runs the next task. */
export class MemoryClock {
  #now = 0;
  /** Tasks in the order of their creation. Handles are negative, because the handles of a platform never are. */
  readonly #tasks = new Map<number, Task>();
  #lastHandle = 0;
  #installed = false;

  /** Ms since the clock was made. */
  get now(): number {
    return this.#now;
  }

  /** The number of tasks that have not run yet. */
  get pending(): number {
    return this.#tasks.size;
  }

  /**
   * Replaces the clocks of rxjs by this one.
   *
   * @throws Error if time is virtual already, by another clock or inside `TestScheduler.run`
   */
  install(): void {
    if (intervalProvider.delegate !== undefined) throw new Error('expected real time, got virtual time that has not been restored');
    this.#installed = true;
    const timestamps = { now: () => this.#now };
    dateTimestampProvider.delegate = timestamps;
    performanceTimestampProvider.delegate = timestamps;
    immediateProvider.delegate = {
      setImmediate: (run) => this.#add(run, -Infinity, null),
      clearImmediate: this.#clearing(immediateProvider, (handle) => immediateProvider.clearImmediate(handle)),
    };
    intervalProvider.delegate = {
      setInterval: (run, ms = 0) => this.#add(run, this.#now + delayOf(ms), delayOf(ms)),
      clearInterval: this.#clearing(intervalProvider, (handle) => intervalProvider.clearInterval(handle)),
    };
    timeoutProvider.delegate = {
      setTimeout: (run, ms = 0) => this.#add(run, this.#now + ms, null),
      clearTimeout: this.#clearing(timeoutProvider, (handle) => timeoutProvider.clearTimeout(handle)),
    };
  }

  /** Restores the clocks of rxjs and drops all tasks. */
  uninstall(): void {
    if (!this.#installed) return;
    this.#installed = false;
    // Without this, `asapScheduler` would wait forever for a flush of these actions.
    for (const action of [...asapScheduler.actions]) action.unsubscribe();
    this.#tasks.clear();
    for (const provider of [dateTimestampProvider, performanceTimestampProvider, immediateProvider, intervalProvider, timeoutProvider])
      provider.delegate = undefined;
  }

  /** Moves to the earliest task that is due at `until` or before, and runs it. If there is none, moves to `until` and returns `false`. */
  step(until: number): boolean {
    const next = this.#earliest(until);
    if (next === null) {
      this.#now = Math.max(this.#now, until);
      return false;
    }
    const [handle, { run, at, everyMs }] = next;
    this.#now = Math.max(this.#now, at);
    // An interval moves behind all other tasks that are due at the same time.
    this.#tasks.delete(handle);
    if (everyMs !== null) this.#tasks.set(handle, { run, at: this.#now + everyMs, everyMs });
    run();
    return true;
  }

  #earliest(until: number): [handle: number, task: Task] | null {
    let earliest: [number, Task] | null = null;
    for (const entry of this.#tasks) if (entry[1].at <= until && (earliest === null || entry[1].at < earliest[1].at)) earliest = entry;
    return earliest;
  }

  #add(run: () => void, at: number, everyMs: number | null): number {
    const handle = --this.#lastHandle;
    this.#tasks.set(handle, { run, at, everyMs });
    return handle;
  }

  /** The platform clears timers that were set before this clock was installed. */
  #clearing<D>(provider: { delegate: D | undefined }, clearReal: (handle: Handle) => void): (handle: Handle) => void {
    return (handle) => {
      if (typeof handle === 'number' && handle < 0) {
        this.#tasks.delete(handle);
        return;
      }
      const { delegate } = provider;
      provider.delegate = undefined;
      clearReal(handle);
      provider.delegate = delegate;
    };
  }
}

/** The delay that a platform uses for one that its timers cannot count. */
function delayOf(ms: number): number {
  return ms > LONGEST_TIMER_MS ? 1 : ms;
}
