import { describe, expect, it } from '@jest/globals';
import { TestScheduler } from 'rxjs/testing';
import { soon } from '../../src/rx/soon.js';
import { virtualTime } from '../../src/testing.js';

const microtask = (): Promise<void> => Promise.resolve();

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
