import { describe, expect, it } from '@jest/globals';
import { Observable, merge, of, take } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { both } from '../../src/rx/pipeline.js';

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

describe('the part in place of an operator of rxjs', () => {
  it.each(RUNS)('`both` emits and unsubscribes as `merge` does: %j', (run) => {
    expect(recorded(both, run)).toEqual(recorded((first, second) => merge(first, second), run));
  });

  it('`both` subscribes no second source once the first has satisfied the subscriber', () => {
    let isRead = false;
    const second = new Observable<number>(() => {
      isRead = true;
    });
    const seen: number[] = [];
    both(of(1), second)
      .pipe(take(1))
      .subscribe((value) => seen.push(value));
    expect([seen, isRead]).toEqual([[1], false]);
  });

  it('`both` counts a source that completes twice once', () => {
    const twice = new Observable<number>((subscriber) => {
      for (let n = 0; n < 2; n++) subscriber.complete();
    });
    let isComplete = false;
    both(twice, new Observable<number>()).subscribe({ complete: () => (isComplete = true) });
    expect(isComplete).toBe(false);
  });
});
