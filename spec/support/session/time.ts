import { expect } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';

/** The virtual time of one test. */
export interface SessionTime {
  readonly now: number;
  /** Whether nothing at all would happen any more, however long one waited. */
  readonly isOver: boolean;
  /** Goes on by so many ms. */
  advance(ms: number): void;
  /** All timers that are due meanwhile come late, together, `ms` from now: as after a sleep. */
  sleep(ms: number): void;
}

/** The body of a test with rxjs's time virtual; of a table it gets the row. */
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
