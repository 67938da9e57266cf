import { describe, expect, it, jest } from '@jest/globals';
import fc from '../../support/fast-check.js';
import { asyncScheduler } from 'rxjs';
import { Deadlines } from '../../../src/stream/deadlines.js';
import type { Deadline } from '../../../src/stream/deadlines.js';
import { inTime } from '../../support/session/time.js';

const MANY = 1_000;
const NEVER_DUE = { expire: () => undefined };

/** Calls that follow each other at once. */
function callOneByOne(deadlines: Deadlines, calls: number, timeoutMs: number): void {
  for (let n = 0; n < calls; n++) {
    const deadline = deadlines.add(NEVER_DUE, timeoutMs);
    if (deadline !== null) deadlines.cancel(deadline);
  }
}

describe('Deadlines', () => {
  it.each([0, -1, Infinity])('Deadlines returns null for %d ms', (timeoutMs) => {
    inTime((time) => {
      expect(new Deadlines().add(NEVER_DUE, timeoutMs)).toBeNull();
      expect(time.isOver).toBe(true);
    })();
  });

  it(
    'Deadlines expires 1 000 different time-outs one by one',
    inTime((time) => {
      const deadlines = new Deadlines();
      const expired: number[] = [];
      const expire = (timeoutMs: number): void => {
        expired.push(timeoutMs);
      };
      for (let n = MANY; n > 0; n--) deadlines.add({ expire }, n);
      time.advance(1);
      expect(expired).toEqual([1]);
      time.advance(2);
      expect(expired).toEqual([1, 2, 3]);
    }),
  );

  it(
    'Deadlines shares one timer between calls that follow each other, and keeps it until it is due',
    inTime((time) => {
      const set = jest.spyOn(asyncScheduler, 'schedule');
      const deadlines = new Deadlines();
      callOneByOne(deadlines, 100, 20);
      expect([set.mock.calls.length, time.isOver]).toEqual([100, true]);
      callOneByOne(deadlines, 100, 20);
      expect([set.mock.calls.length, time.isOver]).toEqual([101, false]);
      time.advance(20);
      expect([set.mock.calls.length, time.isOver]).toEqual([101, true]);
      callOneByOne(deadlines, 100, 20);
      expect([set.mock.calls.length, time.isOver]).toEqual([201, true]);
      set.mockRestore();
    }),
  );

  it(
    'Deadlines expires entries in time while it keeps a shared timer',
    inTime((time) => {
      const deadlines = new Deadlines();
      const expired: string[] = [];
      callOneByOne(deadlines, 101, 20);
      time.advance(5);
      deadlines.add({ expire: (ms) => expired.push(`${ms} at ${time.now}`) }, 20);
      const long = deadlines.add({ expire: (ms) => expired.push(`${ms} at ${time.now}`) }, 40);
      const short = deadlines.add({ expire: (ms) => expired.push(`${ms} at ${time.now}`) }, 10);
      time.advance(35);
      expect([short === null, expired]).toEqual([false, ['10 at 15', '20 at 25']]);
      if (long !== null) deadlines.cancel(long);
      callOneByOne(deadlines, 1, 10);
      time.advance(40);
      expect([expired.length, time.isOver]).toEqual([2, true]);
    }),
  );

  it(
    'Deadlines keeps no timer after `close`',
    inTime((time) => {
      const deadlines = new Deadlines();
      callOneByOne(deadlines, 101, 20);
      const last = deadlines.add(NEVER_DUE, 30);
      deadlines.close();
      expect(time.isOver).toBe(false);
      if (last !== null) deadlines.cancel(last);
      expect(time.isOver).toBe(true);
      callOneByOne(deadlines, 200, 20);
      expect(time.isOver).toBe(true);
    }),
  );

  it('Deadlines expires entries in the order of their time, never a cancelled one, and leaves no timer', () => {
    const act = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ lift: fc.nat({ max: 30 }) }),
      fc.record({ wait: fc.integer({ min: 1, max: 10 }) }),
    );
    fc.assert(
      fc.property(fc.boolean(), fc.array(act, { maxLength: 60 }), (afterMany, acts) => {
        inTime((time) => {
          const deadlines = new Deadlines();
          if (afterMany) callOneByOne(deadlines, 101, 10);
          const expired: string[] = [];
          const due: { readonly name: string; readonly at: number; readonly deadline: Deadline | null }[] = [];
          const expected: string[] = [];
          const pass = (ms: number): void => {
            const passed = due.filter(({ at }) => at <= time.now + ms).sort((a, b) => a.at - b.at);
            expected.push(...passed.map(({ name, at }) => `${name} at ${at}`));
            for (const one of passed) due.splice(due.indexOf(one), 1);
            time.advance(ms);
          };
          let made = 0;
          for (const next of acts) {
            if ('add' in next) {
              const name = `${made++} of ${next.add}`;
              const item = { expire: (timeoutMs: number) => expired.push(`${name.replace(/\d+$/, String(timeoutMs))} at ${time.now}`) };
              due.push({ name, at: time.now + next.add, deadline: deadlines.add(item, next.add) });
            } else if ('lift' in next) {
              const [cancelled] = due.splice(next.lift, 1);
              if (cancelled?.deadline != null) deadlines.cancel(cancelled.deadline);
            } else pass(next.wait);
          }
          pass(20);
          expect(expired.sort()).toEqual(expected.sort());
          deadlines.close();
          expect(time.isOver).toBe(true);
        })();
      }),
    );
  });
});
