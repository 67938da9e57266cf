import { expect } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';

/** The rows of an operator's diagram. `unsub` is the row of an early unsubscription. */
export interface OperatorRow {
  readonly does: string;
  readonly source: string;
  readonly subs: string;
  readonly expected: string;
  readonly unsub?: string;
}

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
