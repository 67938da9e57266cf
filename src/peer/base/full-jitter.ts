import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';

/** What the first delay is at most, and any, in ms. */
export const JITTER = { minDelayMs: 500, maxDelayMs: 30_000 };

/** The delay after the `nth` failure in a row, in ms: random, so that those who failed together do not come back together. It doubles. */
export function fullJitter(nth: number, { minDelayMs, maxDelayMs } = JITTER): number {
  return Math.random() * Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(30, Math.max(0, nth - 1)), LONGEST_TIMER_MS);
}
