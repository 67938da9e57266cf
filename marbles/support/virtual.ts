import { expect } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';

/**
 * Returns the body of a marble test in virtual time; a table passes its row. Jest compares the diagrams, because its
 * differences are readable.
 */
export function marbles<Row extends unknown[] = []>(body: (helpers: RunHelpers, ...row: Row) => void): (...row: Row) => void {
  return (...row) => {
    const scheduler = new TestScheduler((actual, expected) => {
      expect(actual).toEqual(expected);
    });
    scheduler.run((helpers) => {
      body(helpers, ...row);
    });
  };
}
