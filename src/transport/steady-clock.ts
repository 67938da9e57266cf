import { asyncScheduler } from 'rxjs';

/** Readings further apart than this are checked against a clock that nobody can set, in ms. */
const LEAP_MS = 1_000;
/** The system clock never shows a time before 1973; a TestScheduler always does. */
const VIRTUAL_BELOW_MS = 1e11;
// Taken before fake timers of a test runner can be in its place.
const platformSetInterval = globalThis.setInterval;

/**
 * Ms since some moment, by the clock of rxjs but for its leaps: somebody may set the system clock, which moves no time-out.
 * A TestScheduler, and fake timers of a test runner, still make the time virtual.
 *
 * A reading costs as much as one of the system clock. Only a leap needs the monotonic clock.
 */
class SteadyClock {
  /** What the clock of rxjs showed at the last reading. */
  #shown = 0;
  #now = 0;
  /** What this clock and the monotonic one showed at the last leap of real time. */
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

/** `null` on a platform that has no such clock. */
function monotonicNow(): number | null {
  return typeof performance === 'undefined' ? null : performance.now();
}

const clock = new SteadyClock();

/** A time in ms that only compares with other times of this function: no one can set it back or forward, except a test. */
export function steadyNow(): number {
  return clock.now();
}
