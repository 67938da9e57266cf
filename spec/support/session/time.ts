import { expect } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';

/** The virtual time of one test. */
export interface SessionTime {
  readonly now: number;
  /** Whether no task is left, so that nothing would ever happen again. */
  readonly isOver: boolean;
  /** Advances time by `ms`. */
  advance(ms: number): void;
  /** Fires all timers due meanwhile late and together, `ms` from now, as after a sleep. */
  sleep(ms: number): void;
}

/** Wraps the body of a test in virtual rxjs time. In a table test the body gets the row too. */
export function inTime<Row extends unknown[] = []>(body: (time: SessionTime, ...row: Row) => void): (...row: Row) => void {
  return (...row) => {
    const scheduler = new TestScheduler((actual, expected) => {
      expect(actual).toEqual(expected);
    });
    scheduler.run(() => {
      try {
        body(timeOf(scheduler), ...row);
      } finally {
        scheduler.actions.length = 0;
      }
    });
  };
}

function timeOf(scheduler: TestScheduler): SessionTime {
  const flushUntil = (frame: number): void => {
    scheduler.maxFrames = frame;
    scheduler.flush();
    scheduler.frame = frame;
  };
  return {
    get now() {
      return scheduler.frame;
    },
    get isOver() {
      return scheduler.actions.length === 0;
    },
    advance(ms) {
      flushUntil(scheduler.frame + ms);
    },
    sleep(ms) {
      const until = scheduler.frame + ms;
      for (const action of scheduler.actions) action.delay = Math.max(action.delay, until);
      flushUntil(until);
    },
  };
}
