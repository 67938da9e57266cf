import { describe, expect, it } from '@jest/globals';
import { concatMap, merge } from 'rxjs';
import type { Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { both } from '../../src/rx/both.js';
import { then } from '../../src/rx/then.js';

type HotObservable = ReturnType<typeof TestScheduler.prototype.createHotObservable<string>>;

interface Run {
  readonly sources: readonly [first: string, second: string];
  readonly unsubscribed?: string;
}

/** Notifications of the result, and the subscriptions of both sources. */
function recorded(combine: (first: Observable<string>, second: Observable<string>) => Observable<string>, run: Run): unknown[] {
  const seen: unknown[] = [];
  const scheduler = new TestScheduler((actual) => {
    seen.push(actual);
  });
  scheduler.run(({ hot, expectObservable, expectSubscriptions }) => {
    const [first, second] = run.sources.map((marbles) => hot(marbles)) as [HotObservable, HotObservable];
    expectObservable(combine(first, second), run.unsubscribed).toBe('');
    expectSubscriptions(first.subscriptions).toBe([]);
    expectSubscriptions(second.subscriptions).toBe([]);
  });
  return seen;
}

const RUNS: readonly Run[] = [
  { sources: ['a-b-|', '-c---d-|'] },
  { sources: ['a-|', '-c---d-|'] },
  { sources: ['-#', '-c-|'] },
  { sources: ['-a--#', '-c-#'] },
  { sources: ['-a|', '--------d-#'] },
  { sources: ['-a--a', '--c--d'], unsubscribed: '---!' },
  { sources: ['|', '-c-|'] },
  { sources: ['-a|', '|'] },
];

/** The first source emits one value and completes, as the sources of `then` do. */
const ONE_VALUE: readonly Run[] = [
  { sources: ['-(a|)', '---c-d-|'] },
  { sources: ['-(a|)', '---c-#'] },
  { sources: ['-(a|)', '---c-d-|'], unsubscribed: '----!' },
  { sources: ['-(a|)', '|'] },
  { sources: ['--a', '---c-|'], unsubscribed: '-!' },
  { sources: ['-#', '---c-|'] },
  { sources: ['-|', '---c-|'] },
];

describe('the parts in place of operators of rxjs', () => {
  it.each(RUNS)('`both` emits and unsubscribes as `merge` does: %j', (run) => {
    expect(recorded(both, run)).toEqual(recorded((first, second) => merge(first, second), run));
  });

  it.each(ONE_VALUE)('`then` continues as `concatMap` does after one value: %j', (run) => {
    expect(recorded((first, second) => then(first, () => second), run)).toEqual(
      recorded((first, second) => first.pipe(concatMap(() => second)), run),
    );
  });

  it('An error of the function of `then` is the error of the result', () => {
    const fails = (): Observable<string> => {
      throw new Error('no next');
    };
    const run: Run = { sources: ['-(a|)', '|'] };
    expect(recorded((first) => then(first, fails), run)).toEqual(recorded((first) => first.pipe(concatMap(fails)), run));
  });
});
