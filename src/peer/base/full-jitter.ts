import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';

/** The longest first delay, and the longest of all, in ms. */
export const JITTER = { minDelayMs: 500, maxDelayMs: 30_000 };

/**
 * The delay after the `nth` failure in a row, in ms. It is random, so that clients which failed together do not come back together. Its
 * upper bound doubles with each failure.
 */
export function fullJitter(nth: number, { minDelayMs, maxDelayMs } = JITTER): number {
  return Math.random() * Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(30, Math.max(0, nth - 1)), LONGEST_TIMER_MS);
}
