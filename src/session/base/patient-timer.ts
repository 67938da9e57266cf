import { asyncScheduler, Subscription } from 'rxjs';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import type { Clock } from './clock.js';

/** While a clock stands still, its timer checks the clock so many times in a period. */
const POLLS_WHILE_PAUSED = 10;

/**
 * Calls `due` once after `ms`, with whether the call is on time. A sleeping laptop or a throttled tab may fire the timer after more than
 * twice its delay. Such a late timer proves nothing about the remote, so the caller must not end the connection for it.
 *
 * The timer reads the system clock, because a monotonic clock may stand still during a sleep. Setting the system clock forward only delays
 * a verdict.
 */
export function patientTimer(ms: number, due: (onTime: boolean) => void): Subscription {
  if (ms > LONGEST_TIMER_MS) return Subscription.EMPTY;
  const started = asyncScheduler.now();
  return asyncScheduler.schedule(() => {
    due(asyncScheduler.now() - started <= 2 * ms);
  }, ms);
}

/** A {@link patientTimer} for the rest of a period on `clock`. The rest does not shrink while the clock stands still. */
export function restTimer(clock: Clock, remainingMs: number, period: number, due: (onTime: boolean) => void): Subscription {
  return patientTimer(Math.max(1, clock.paused ? Math.max(remainingMs, period / POLLS_WHILE_PAUSED) : remainingMs), due);
}
