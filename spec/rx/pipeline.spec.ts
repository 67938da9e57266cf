import { afterEach, describe, expect, it } from '@jest/globals';
import { config, finalize, map, merge, Observable, of, Subject, take } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { both, HandledRelay, RestartingPipeline } from '../../src/rx/pipeline.js';
import { soon } from '../../src/rx/soon.js';
import { virtualTime } from '../../src/testing.js';
import { inTime } from '../support/session/time.js';

describe('RestartingPipeline', () => {
  /** A pipeline that throws at `'bad'`, and a record of its values and failures. */
  function rig(source: Observable<string>) {
    const seen: string[] = [];
    const make = (): Observable<void> =>
      source.pipe(
        map((value) => {
          if (value === 'bad') throw new Error(value);
          seen.push(value);
        }),
      );
    const pipeline = new RestartingPipeline({
      make,
      failed: (error) => seen.push(`failed: ${String(error)}`),
      completed: () => seen.push('ended'),
    });
    return { pipeline, seen };
  }

  afterEach(() => {
    config.onUnhandledError = null;
  });

  it('RestartingPipeline goes on after an error, and always has one subscription', () => {
    const source = new Subject<string>();
    const { pipeline, seen } = rig(source);
    pipeline.start();
    for (const value of ['one', 'bad', 'two', 'bad', 'three']) source.next(value);
    expect(seen).toEqual(['one', 'failed: Error: bad', 'two', 'failed: Error: bad', 'three']);
    source.complete();
    expect(seen.slice(5)).toEqual(['ended']);
    expect(source.observed).toBe(false);
  });

  it(
    'RestartingPipeline ends when its source completes, unsubscribes once and reports no error',
    inTime((time) => {
      const broken: unknown[] = [];
      config.onUnhandledError = (error) => broken.push(error);
      const source = new Subject<string>();
      let left = 0;
      const pipeline = new RestartingPipeline({
        make: () => source.pipe(finalize(() => left++)),
        failed: (error) => broken.push(error),
      });
      pipeline.start();
      source.complete();
      pipeline.unsubscribe();
      time.advance(1);
      expect([left, broken]).toEqual([1, []]);
    }),
  );

  it('RestartingPipeline goes on after an error during the subscribe call', () => {
    const early = ['one', 'bad', 'two'];
    const source = new Observable<string>((subscriber) => {
      while (early.length > 0 && !subscriber.closed) subscriber.next(String(early.shift()));
    });
    const { pipeline, seen } = rig(source);
    pipeline.start();
    expect(seen).toEqual(['one', 'failed: Error: bad', 'two']);
  });

  it('RestartingPipeline reports a pipeline once that fails twice and then completes', () => {
    const seen: string[] = [];
    const sources = [
      new Observable<never>((subscriber) => {
        const faulty: (() => void)[] = [() => subscriber.error('first'), () => subscriber.error('second'), () => subscriber.complete()];
        for (const notify of faulty) notify();
      }),
      new Observable<never>(),
    ];
    new RestartingPipeline({
      make: () => sources.shift() ?? new Observable(),
      failed: (error) => seen.push(String(error)),
      completed: () => seen.push('ended'),
    }).start();
    expect([seen, sources.length]).toEqual([['first'], 0]);
  });

  it('RestartingPipeline subscribes once to a source that completes during the subscribe call', () => {
    const seen: string[] = [];
    const source = new Observable<never>((subscriber) => {
      seen.push('subscribed');
      subscriber.complete();
      return () => seen.push('left');
    });
    const pipeline = new RestartingPipeline({ make: () => source, failed: fail, completed: () => seen.push('ended') });
    pipeline.start();
    pipeline.unsubscribe();
    expect(seen).toEqual(['subscribed', 'ended', 'left']);
  });

  it('RestartingPipeline unsubscribes from a source that has completed', () => {
    const seen: string[] = [];
    const source = new Subject<never>();
    const left = source.pipe(finalize(() => seen.push('left')));
    new RestartingPipeline({ make: () => left, failed: fail, completed: () => seen.push('ended') }).start();
    source.complete();
    expect(seen.sort()).toEqual(['ended', 'left']);
  });

  it('RestartingPipeline stops on unsubscribe, even from its failure handler or during the subscribe call', () => {
    const source = new Subject<string>();
    const { pipeline } = rig(source);
    pipeline.start();
    pipeline.unsubscribe();
    expect(source.observed).toBe(false);

    let made = 0;
    const stopped = new RestartingPipeline({
      make: () => {
        made++;
        return source.pipe(map(() => fail()));
      },
      failed: () => {
        stopped.unsubscribe();
      },
    });
    stopped.start();
    source.next('any');
    expect([source.observed, made]).toEqual([false, 2]);

    let subscriptions = 0;
    const inTheAct = new RestartingPipeline({
      make: () =>
        new Observable<never>((subscriber) => {
          subscriptions++;
          inTheAct.unsubscribe();
          return source.subscribe(subscriber as never);
        }),
      failed: ignore,
    });
    inTheAct.start();
    expect([source.observed, subscriptions]).toEqual([false, 1]);

    const breaksAndStops = new RestartingPipeline({
      make: () =>
        new Observable<never>((subscriber) => {
          subscriptions++;
          subscriber.error(new Error('at once'));
        }),
      failed: () => {
        breaksAndStops.unsubscribe();
      },
    });
    breaksAndStops.start();
    expect(subscriptions).toBe(2);
  });

  function ignore(): void {
    // This test needs no report.
  }

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
