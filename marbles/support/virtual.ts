import { expect } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';

/** The body of a marble test, in virtual time; of a table it gets the row. Diagrams are compared by jest, whose differences can be read. */
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
