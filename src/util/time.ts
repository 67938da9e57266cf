import { asyncScheduler } from 'rxjs';

/** When two readings are further apart than this, in ms, the clock compares itself with the monotonic clock. */
const LEAP_MS = 1_000;
/** A time before 1973 is virtual: a TestScheduler always shows one, the system clock never does. */
const VIRTUAL_BELOW_MS = 1e11;
// Captured before a test runner can install fake timers.
const platformSetInterval = globalThis.setInterval;

/**
 * Counts ms since some moment. It follows the clock of rxjs without its leaps: when somebody sets the system clock, no time-out moves.
 * A TestScheduler, and fake timers of a test runner, still make the time virtual.
 *
 * A reading costs as much as a reading of the system clock, since only a leap needs the monotonic clock.
 */
class SteadyClock {
  /** The time on the clock of rxjs at the last reading. */
  #shown = 0;
  #now = 0;
  /** The times on this clock and on the monotonic clock at the last leap of real time. */
  #nowAtLeap = 0;
  #monotonicAtLeap = monotonicNow();

  now(): number {
    const shown = asyncScheduler.now();
    const passed = shown - this.#shown;
    this.#shown = shown;
    if (passed >= 0 && passed < LEAP_MS) this.#now += passed;
    else this.#leap(passed);
    return this.#now;
  }

  #leap(passed: number): void {
    if (this.#shown < VIRTUAL_BELOW_MS) {
      this.#now = this.#shown;
      return;
    }
    const monotonic = monotonicNow();
    const isFollowed = monotonic === null || globalThis.setInterval !== platformSetInterval;
    const next = isFollowed ? this.#now + passed : this.#nowAtLeap + monotonic - (this.#monotonicAtLeap ?? 0);
    const wasVirtual = this.#shown - passed < VIRTUAL_BELOW_MS;
    this.#now = this.#nowAtLeap = wasVirtual ? next : Math.max(this.#now, next);
    this.#monotonicAtLeap = monotonic;
  }
}

/** Returns `null` on a platform without a monotonic clock. */
function monotonicNow(): number | null {
  return typeof performance === 'undefined' ? null : performance.now();
}

const clock = new SteadyClock();

/** A time in ms. Compare it only with other results of this function. Only a test can set it back or forward. */
export function steadyNow(): number {
  return clock.now();
}
