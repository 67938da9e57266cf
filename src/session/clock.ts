import { asyncScheduler } from 'rxjs';

/** A clock in ms. */
export interface Clock {
  now(): number;
  /** Whether it stands still. */
  readonly paused: boolean;
}

/** The clock of rxjs, which a TestScheduler makes virtual. It never stands still. */
export const STEADY_CLOCK: Clock = { now: () => asyncScheduler.now(), paused: false };
