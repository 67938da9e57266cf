import { expect } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';
import { checkPicture, currentPicture } from '../../spec/support/pictures/drawn.js';
import { recorded } from '../../spec/support/pictures/recorded.js';

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
 * differences are readable. A test that draws a picture of the docs fails where the committed picture differs from its rows.
 */
export function marbles<Row extends unknown[] = []>(body: (helpers: RunHelpers, ...row: Row) => void): (...row: Row) => void {
  return (...row) => {
    const scheduler = new TestScheduler((actual, expected) => {
      expect(actual).toEqual(expected);
    });
    const picture = currentPicture();
    scheduler.run((helpers) => {
      if (picture === undefined) {
        body(helpers, ...row);
        return;
      }
      const recording = recorded(helpers);
      body(recording.helpers, ...row);
      helpers.flush();
      checkPicture(picture, recording.rows);
    });
  };
}
