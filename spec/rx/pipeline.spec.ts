import { describe, expect, it } from '@jest/globals';
import { merge, Observable, of, Subject, take } from 'rxjs';
import type { Observer, Subscriber } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { both, HandledRelay, mapPresent, run } from '../../src/rx/pipeline.js';
import { soon } from '../../src/rx/soon.js';
import { virtualTime } from '../../src/testing.js';

describe('run', () => {
  /** Runs a pipeline whose step throws at `'bad'`. Returns the subscription, and a record of its values and failures. */
  function rig(source: Observable<string>) {
    const seen: string[] = [];
    const steps = mapPresent((value: string) => {
      if (value === 'bad') throw new Error(value);
      seen.push(value);
      return null;
    });
    const host = { failed: (error: unknown) => seen.push(`failed: ${String(error)}`), completed: () => seen.push('ended') };
    return { running: run(source.pipe(steps), host), seen };
  }

  /** A source that runs `act` with each subscriber, and records when it is subscribed and left. */
  function sourceOf(act: (subscriber: Subscriber<string>) => void) {
    const seen: string[] = [];
    const source = new Observable<string>((subscriber) => {
      seen.push('subscribed');
      act(subscriber);
      return () => seen.push('left');
    });
    return { source, seen };
  }

  it('A step that throws costs its value, and the subscription stays', () => {
    const source = new Subject<string>();
    const { seen } = rig(source);
    for (const value of ['one', 'bad', 'two', 'bad', 'three']) source.next(value);
    expect(seen).toEqual(['one', 'failed: Error: bad', 'two', 'failed: Error: bad', 'three']);
    source.complete();
    expect(seen.slice(5)).toEqual(['ended']);
    expect(source.observed).toBe(false);
  });

  it('The same holds for values within the subscribe call', () => {
    const { source, seen: times } = sourceOf((subscriber) => {
      for (const value of ['one', 'bad', 'two']) subscriber.next(value);
    });
    expect(rig(source).seen).toEqual(['one', 'failed: Error: bad', 'two']);
    expect(times).toEqual(['subscribed']);
  });

  it.each([
    ['completes', ['ended'], (subscriber: Subscriber<string>) => subscriber.complete()],
    ['fails', ['failed: x'], (subscriber: Subscriber<string>) => subscriber.error('x')],
  ])('A source that %s within the subscribe call is left at once, and ends the pipeline once', (_what, ending, end) => {
    const { source, seen: times } = sourceOf((subscriber) => {
      for (const act of [end, end, () => subscriber.next('late')]) act(subscriber);
    });
    const { seen } = rig(source);
    expect([seen, times]).toEqual([ending, ['subscribed', 'left']]);
  });

  it('A second notification of the end reports nothing', () => {
    const seen: string[] = [];
    const broken = {
      subscribe: (faulty: Observer<never>) => {
        for (const notify of [() => faulty.error('first'), () => faulty.error('second'), () => faulty.complete()]) notify();
      },
    } as unknown as Observable<never>;
    run(broken, { failed: (error) => seen.push(String(error)) });
    expect(seen).toEqual(['first']);
  });

  it('A host without `completed` needs none', () => {
    const source = new Subject<string>();
    run(source, { failed: fail });
    source.complete();
    expect(source.observed).toBe(false);
  });

  it('`unsubscribe` ends it, also from the handler of a failure', () => {
    const source = new Subject<string>();
    const { running, seen } = rig(source);
    running.unsubscribe();
    expect(source.observed).toBe(false);

    const stopped = run(source.pipe(mapPresent(fail)), { failed: () => stopped.unsubscribe() });
    for (let n = 0; n < 2; n++) source.next('any');
    expect([source.observed, seen]).toEqual([false, []]);
  });

  function fail(): never {
    throw new Error('bad');
  }
});

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

const microtask = (): Promise<void> => Promise.resolve();

describe('HandledRelay', () => {
  it('HandledRelay passes one error to its owner, and none after the end', () => {
    const errors: unknown[] = [];
    const relays: HandledRelay<number>[] = [];
    new Observable<unknown>((to) => {
      const relay = new HandledRelay<number>(to, { received: () => undefined, failed: (error) => errors.push(error) });
      relays.push(relay);
      for (const error of ['one', 'another']) relay.error(error);
    }).subscribe();
    expect([errors, relays.map(({ closed }) => closed)]).toEqual([['one'], [true]]);
  });
});

describe('soon', () => {
  it('Tasks run later, together, and in the order of the calls', async () => {
    const ran: string[] = [];
    soon(() => {
      ran.push('first');
      void microtask().then(() => ran.push('between'));
    });
    soon(() => ran.push('second'));
    expect(ran).toEqual([]);
    await microtask();
    await microtask();
    expect(ran).toEqual(['first', 'second', 'between']);
  });

  it('Tasks that tasks schedule run after them, for any number of times', async () => {
    const ran: number[] = [];
    const again = (n: number): void => {
      ran.push(n);
      if (n < 5) soon(() => again(n + 1)); // prettier-ignore
    };
    soon(() => again(0)); // prettier-ignore
    for (let n = 0; n < 20; n++) await microtask();
    expect(ran).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('Tasks run without delay under a TestScheduler', () => {
    const ran: number[] = [];
    new TestScheduler(() => undefined).run(({ flush }) => {
      soon(() => ran.push(1));
      flush();
    });
    expect(ran).toEqual([1]);
  });

  it('Tasks of a virtual clock that was restored never run, and later tasks do', async () => {
    const ran: string[] = [];
    const time = virtualTime();
    soon(() => ran.push('of the virtual clock'));
    time.restore();
    soon(() => ran.push('of the real clock'));
    await microtask();
    await microtask();
    expect(ran).toEqual(['of the real clock']);
  });
});
