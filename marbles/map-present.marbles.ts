import { describe, expect, it, jest } from '@jest/globals';
import { map, Observable, pipe } from 'rxjs';
import { mapPresent } from '../src/rx/pipeline.js';
import { marbles } from './support/virtual.js';
import type { OperatorRow } from './support/virtual.js';

/** Drops `x`, throws at `z`, and turns the other letters into capitals. */
const large = mapPresent((letter: string) => {
  if (letter === 'z') throw new Error('broken');
  return letter === 'x' ? null : letter.toUpperCase();
});
const twice = mapPresent((letter: string) => (letter === 'Y' ? null : letter + letter));
const thrice = mapPresent((letters: string) => letters + letters.charAt(0));

const VALUES = { A: 'AAA', B: 'BBB', C: 'CCC' };
const ROWS: readonly OperatorRow[] = [
  { does: 'emits every value that is present', source: '-a-b-c|', subs: '^-----!', expected: '-A-B-C|' },
  { does: 'drops each value that one of them drops', source: '-a-x-y-c|', subs: '^-------!', expected: '-A-----C|' },
  { does: 'errors where one of them throws', source: '-a-z-c|', subs: '^--!', expected: '-A-#' },
  { does: 'passes on an error', source: '-a-#', subs: '^--!', expected: '-A-#' },
  { does: 'unsubscribes from the source', source: '-a-b-c-', subs: '^--!', expected: '-A---', unsub: '---!' },
];

describe('several mapPresent in a row', () => {
  it.each(ROWS)(
    'A row of mapPresent $does',
    marbles<[OperatorRow]>(({ cold, expectObservable, expectSubscriptions }, { source, subs, expected, unsub }) => {
      const source$ = cold(source);
      const error = expected.includes('#') && source.includes('z') ? new Error('broken') : 'error';
      expectObservable(source$.pipe(large, twice, thrice), unsub).toBe(expected, VALUES, error);
      expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it.each(ROWS)(
    'A row of mapPresent with another operator between them $does',
    marbles<[OperatorRow]>(({ cold, expectObservable, expectSubscriptions }, { source, subs, expected, unsub }) => {
      const source$ = cold(source);
      const error = expected.includes('#') && source.includes('z') ? new Error('broken') : 'error';
      const apart$ = source$.pipe(
        large,
        map((letter) => letter),
        pipe(twice, thrice),
      );
      expectObservable(apart$, unsub).toBe(expected, VALUES, error);
      expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`mapPresent` leaves its source unchanged for other operators',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('a|');
      const once$ = source$.pipe(large);
      expectObservable(once$.pipe(twice)).toBe('B|', { B: 'AA' });
      expectObservable(once$).toBe('A|');
      expectSubscriptions(source$.subscriptions).toBe(['^!', '^!']);
    }),
  );

  it(
    'A row of mapPresent subscribes once, whatever its length',
    marbles(({ cold, expectSubscriptions, flush }) => {
      const source$ = cold('a|');
      const one$ = source$.pipe(large, twice, thrice);
      const subscribe = jest.spyOn(Observable.prototype, 'subscribe');
      one$.subscribe();
      // One for the row, one for the source.
      expect(subscribe).toHaveBeenCalledTimes(2);
      subscribe.mockRestore();
      flush();
      expectSubscriptions(source$.subscriptions).toBe('^!');
    }),
  );
});
