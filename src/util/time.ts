import { Subscription, asyncScheduler } from 'rxjs';

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
    // Whole ms, as on the clock of rxjs: the engine boxes each time with a fraction that an object keeps.
    const next = isFollowed ? this.#now + passed : this.#nowAtLeap + monotonic - (this.#monotonicAtLeap ?? 0);
    const wasVirtual = this.#shown - passed < VIRTUAL_BELOW_MS;
    this.#now = this.#nowAtLeap = Math.round(wasVirtual ? next : Math.max(this.#now, next));
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

/** The longest delay that the platforms' timers can count, in ms. Timers with a longer delay fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A clock in ms. */
export interface Clock {
  now(): number;
  /** Whether the clock stands still. */
  readonly paused: boolean;
}

/** {@link steadyNow} as a clock that never stands still. */
export const STEADY_CLOCK: Clock = { now: steadyNow, paused: false };

/** How often a timer checks its clock in one period while that clock stands still. */
const POLLS_WHILE_PAUSED = 10;
/** Within this part of its period a late timer is on time. A busy event loop is late by some ms, which may be more than twice a short rest. */
const SPARE_PART = 10;

/**
 * Calls `due` once after `ms`, with whether the call is on time. A sleeping laptop or a throttled tab may fire the timer late by more
 * than `spareMs`, by default as late again. Such a late timer proves nothing about the remote, so the caller must not end the connection for it.
 *
 * The timer reads the system clock, because a monotonic clock may stand still during a sleep. Setting the system clock forward only delays
 * a verdict.
 */
export function patientTimer(ms: number, due: (onTime: boolean) => void, spareMs = ms): Subscription {
  if (ms > LONGEST_TIMER_MS) return Subscription.EMPTY;
  return asyncScheduler.schedule(ring, ms, { due, lastOnTime: asyncScheduler.now() + ms + spareMs });
}

/** The call of a {@link patientTimer}, and until when it is on time. Takes less memory than a closure. */
interface Patience {
  readonly due: (onTime: boolean) => void;
  readonly lastOnTime: number;
}

function ring(patience?: Patience): void {
  patience?.due(asyncScheduler.now() <= patience.lastOnTime);
}

/** A {@link patientTimer} for the rest of a period on `clock`. The rest does not shrink while the clock stands still. */
export function restTimer(clock: Clock, remainingMs: number, period: number, due: (onTime: boolean) => void): Subscription {
  const ms = Math.max(1, clock.paused ? Math.max(remainingMs, period / POLLS_WHILE_PAUSED) : remainingMs);
  return patientTimer(ms, due, Math.max(ms, period / SPARE_PART));
}

/** Watches for a time without movement, from {@link begin} until nothing is pending. Only a running watch has a timer, and it has one. */
export class Watch {
  /** Silence before this time does not count. */
  since = 0;
  #timer: Subscription | null = null;

  /**
   * @param ms the time without movement.
   * @param movedAt when something last moved, on `clock`.
   * @param isPending whether movement is still expected.
   * @param stalled called after `ms` without movement. Returns the time from which to count again, or `null` to end the watch
   */
  constructor(
    private readonly clock: Clock,
    private readonly ms: () => number,
    private readonly movedAt: () => number,
    private readonly isPending: () => boolean,
    private readonly stalled: () => number | null,
  ) {}

  get isRunning(): boolean {
    return this.#timer !== null;
  }

  begin(): void {
    if (this.isRunning) return;
    this.since = this.clock.now();
    this.#wait();
  }

  stop(): void {
    this.#timer?.unsubscribe();
    this.#timer = null;
  }

  #remainingMs(): number {
    return Math.max(this.since, this.movedAt()) + this.ms() - this.clock.now();
  }

  #wait(): void {
    this.#timer = restTimer(this.clock, this.#remainingMs(), this.ms(), (onTime) => {
      // A late timer proves nothing about the remote: start the whole period again.
      if (!onTime) this.since = this.clock.now();
      const since = this.isPending() ? (this.#remainingMs() > 0 ? this.since : this.stalled()) : null;
      // `stalled` may have stopped the watch.
      if (since === null || !this.isRunning) this.#timer = null;
      else {
        this.since = since;
        this.#wait();
      }
    });
  }
}

/** A token bucket. The virtual time of a TestScheduler fills it too. */
export class TokenBucket {
  // Both hold fractions later. The engine stores `-0` as a fraction too, so a bucket never changes its shape, which would end optimization.
  #tokens = -0;
  #filledAt = -0;

  constructor(private readonly rate: Rate) {
    this.#tokens = rate.burst;
  }

  /** Takes one token; returns `false` if the bucket is empty. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  get empty(): boolean {
    // Time only adds tokens, so a bucket with one needs no fill.
    if (this.#tokens < 1) this.#fill();
    return this.#tokens < 1;
  }

  /** Adds tokens earned in another way than by time, up to the burst. */
  earn(tokens: number): void {
    this.#tokens = Math.min(this.rate.burst, this.#tokens + tokens);
  }

  #fill(): void {
    const now = steadyNow();
    // A test may turn its virtual clock back.
    if (this.#tokens < this.rate.burst) this.earn((Math.max(0, now - this.#filledAt) / 1000) * this.rate.perSecond);
    this.#filledAt = now;
  }
}

/** A token bucket: `burst` tokens at first and at most, `perSecond` new ones each second. */
export interface Rate {
  /** Tokens at first, and at most. */
  readonly burst: number;
  /** New tokens each second. */
  readonly perSecond: number;
}

/** Runs a task after `ms`. The timer does not keep the process alive. Returns a cancel function. */
export function backgroundTimer(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  // In Deno and workerd a timer may be a number.
  (timer as Partial<typeof timer>).unref?.();
  return () => {
    clearTimeout(timer);
  };
}
