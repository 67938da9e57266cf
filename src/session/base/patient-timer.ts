import { asyncScheduler, Subscription } from 'rxjs';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import type { Clock } from './clock.js';

/** How often in a period a clock that stands still is looked at. */
const POLLS_WHILE_PAUSED = 10;

/**
 * Calls `due` once after `ms`, and whether that is on time. A timer that fires after more than twice its delay (a sleeping laptop,
 * a throttled tab) says nothing about the other side, so nobody is condemned by it.
 *
 * Asks the system clock, because a monotonic one may stand still during a sleep. A clock that is set forward only makes it patient.
 */
export function patientTimer(ms: number, due: (onTime: boolean) => void): Subscription {
  if (ms > LONGEST_TIMER_MS) return Subscription.EMPTY;
  const started = asyncScheduler.now();
  return asyncScheduler.schedule(() => {
    due(asyncScheduler.now() - started <= 2 * ms);
  }, ms);
}

/** A {@link patientTimer} for what is left of a period on `clock`. While the clock stands still the rest does not get shorter. */
export function restTimer(clock: Clock, remainingMs: number, period: number, due: (onTime: boolean) => void): Subscription {
  return patientTimer(Math.max(1, clock.paused ? Math.max(remainingMs, period / POLLS_WHILE_PAUSED) : remainingMs), due);
}
