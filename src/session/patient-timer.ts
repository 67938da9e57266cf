import { asyncScheduler, defer, map, NEVER, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Clock } from './reading.js';

/** The longest delay that the platforms' timers can count, in ms; beyond it they fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** How often in a period a clock is looked at that stands still. */
const LOOKS_WHILE_PAUSED = 10;

/**
 * Emits once after `ms`, and whether it came on time. A timer that fires more than twice too late (a sleeping laptop, a
 * throttled tab) says nothing about the other side, so nobody is condemned by it.
 */
export function patientTimer(ms: number): Observable<{ readonly onTime: boolean }> {
  if (ms > LONGEST_TIMER_MS) return NEVER;
  return defer(() => {
    const started = asyncScheduler.now();
    return timer(ms).pipe(map(() => ({ onTime: asyncScheduler.now() - started <= 2 * ms })));
  });
}

/** A {@link patientTimer} for what is left of a period on `clock`. While the clock stands still the rest does not get shorter. */
export function restTimer(clock: Clock, rest: number, period: number): Observable<{ readonly onTime: boolean }> {
  return patientTimer(Math.max(1, clock.paused ? Math.max(rest, period / LOOKS_WHILE_PAUSED) : rest));
}
