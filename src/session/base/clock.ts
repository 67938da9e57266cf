import { steadyNow } from '../../util/time.js';

/** A clock in ms. */
export interface Clock {
  now(): number;
  /** Whether the clock stands still. */
  readonly paused: boolean;
}

/** {@link steadyNow} as a clock that never stands still. */
export const STEADY_CLOCK: Clock = { now: steadyNow, paused: false };
