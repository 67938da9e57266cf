import { asyncScheduler, Subscription } from 'rxjs';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import type { Clock } from './clock.js';

/** While a clock stands still, its timer checks the clock so many times in a period. */
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
  const started = asyncScheduler.now();
  return asyncScheduler.schedule(() => {
    due(asyncScheduler.now() - started <= ms + spareMs);
  }, ms);
}

/** A {@link patientTimer} for the rest of a period on `clock`. The rest does not shrink while the clock stands still. */
export function restTimer(clock: Clock, remainingMs: number, period: number, due: (onTime: boolean) => void): Subscription {
  const ms = Math.max(1, clock.paused ? Math.max(remainingMs, period / POLLS_WHILE_PAUSED) : remainingMs);
  return patientTimer(ms, due, Math.max(ms, period / SPARE_PART));
}
