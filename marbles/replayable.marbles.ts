import { describe, expect, it } from '@jest/globals';
import { defer, map } from 'rxjs';
import { CursorLost, replayable } from '../src/topics.js';
import { marbles } from './support/virtual.js';

interface Row {
  readonly does: string;
  readonly source: string;
  readonly keep?: number;
  readonly idleMs?: number;
  /** When the server stops the source. */
  readonly stop?: string;
  /** When the source runs. */
  readonly subs: string;
  /** When the reader is there. */
  readonly reader: string;
  readonly expected: string;
  /** When the reader is there again, with the cursor of its last value. */
  readonly again?: string;
  readonly expectedAgain?: string;
  readonly error?: unknown;
}

const BROKEN = new Error('the model is gone');
const LOST = expect.any(CursorLost);

describe('replayable', () => {
  it.each<Row>([
    {
      does: 'starts at once, and passes every value to a reader that comes later',
      source: '  ab-c-------d-|',
      subs: '    ^------------!',
      reader: '  -----^--------',
      expected: '-----(abc)-d-|',
    },
    {
      does: 'runs on while its reader is away, which gets nothing twice',
      source: '       ab-c-d--------e-f-|',
      subs: '         ^-----------------!',
      reader: '       ^-!',
      expected: '     ab',
      again: '        --------^----------',
      expectedAgain: '--------(cd)--e-f-|',
    },
    {
      does: 'ends the source when no reader comes for `idleMs`',
      source: '  a-b--c----d-',
      idleMs: 4,
      subs: '    ^---!',
      reader: '  ------^',
      expected: '------#',
      error: LOST,
    },
    {
      does: 'ends the source `idleMs` after its last reader',
      source: '       a--b--c----d-',
      idleMs: 4,
      subs: '         ^-----!',
      reader: '       ^-!',
      expected: '     a',
      again: '        --------^',
      expectedAgain: '--------#',
      error: LOST,
    },
    {
      does: 'goes on for a reader that comes back in time',
      source: '       a-b--c----d---e-f',
      idleMs: 4,
      subs: '         ^----------------',
      reader: '       ^--!',
      expected: '     a-b',
      again: '        ------^----------',
      expectedAgain: '------c---d---e-f',
    },
    {
      does: 'keeps a source that has ended for `idleMs`',
      source: '       a-bc|',
      idleMs: 4,
      subs: '         ^---!',
      reader: '       ^!',
      expected: '     a',
      again: '        ----^',
      expectedAgain: '----(bc|)',
    },
    {
      does: 'drops a source that has ended `idleMs` after its last reader',
      source: '       a-bc|',
      idleMs: 4,
      subs: '         ^---!',
      reader: '       ^!',
      expected: '     a',
      again: '        ------^',
      expectedAgain: '------#',
      error: LOST,
    },
    {
      does: 'passes the values to the stop, and completes',
      source: '  ab-c-d',
      stop: '    ----x',
      subs: '    ^---!',
      reader: '  ^----',
      expected: 'ab-c|',
    },
    {
      does: 'completes for a reader that comes after the stop',
      source: '       ab-c-d',
      stop: '         ----x',
      subs: '         ^---!',
      reader: '       ^-!',
      expected: '     ab',
      again: '        ------^',
      expectedAgain: '------(c|)',
    },
    {
      does: 'keeps the error of the source for a reader that comes late',
      source: '       ab-c#',
      subs: '         ^---!',
      reader: '       ^-!',
      expected: '     ab',
      again: '        ------^',
      expectedAgain: '------(c#)',
      error: BROKEN,
    },
    {
      does: 'errors for a reader whose next value is no longer kept',
      source: '       a-bcdef',
      keep: 2,
      subs: '         ^ 60004ms !',
      reader: '       ^!',
      expected: '     a',
      again: '        -----^',
      expectedAgain: '-----#',
      error: LOST,
    },
    {
      does: 'passes the last values that are kept',
      source: '       a-b-c-----d',
      keep: 2,
      subs: '         ^----------',
      reader: '       ^!',
      expected: '     a',
      again: '        ------^----',
      expectedAgain: '------(bc)d',
    },
    {
      does: 'errors for a new reader when the first value is no longer kept',
      source: '  abcdef',
      keep: 2,
      subs: '    ^ 60002ms !',
      reader: '  ---^',
      expected: '---#',
      error: LOST,
    },
  ])(
    '`replayable` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, row) => {
      const source = cold(row.source, undefined, BROKEN);
      const { keep, idleMs, stop = '', again, expectedAgain = '' } = row;
      const replay = replayable(source, { keep, idleMs });
      cold(stop).subscribe(() => {
        replay.stop();
      });
      let last: string | null = null;
      const read$ = defer(() => replay.after(last)).pipe(
        map(({ cursor, value }) => {
          last = cursor;
          return value;
        }),
      );
      expectObservable(read$, row.reader).toBe(row.expected, undefined, row.error);
      if (again !== undefined) expectObservable(read$, again).toBe(expectedAgain, undefined, row.error);
      expectSubscriptions(source.subscriptions).toBe(row.subs);
    }),
  );
});
