import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Deadlines } from '../../src/peer/deadlines.js';
import type { Deadline } from '../../src/peer/deadlines.js';
import { inTime } from '../support/session-time.js';

const MANY = 200_000;

describe('deadlines', () => {
  it.each([0, -1, Infinity])('are none for %d ms', (timeoutMs) => {
    inTime((time) => {
      expect(new Deadlines().add({ expire: () => undefined }, timeoutMs)).toBeNull();
      expect(time.isOver).toBe(true);
    })();
  });

  it(
    'expire one by one where each has a time-out of its own, however many there are',
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

  it('expire in the order of their time, those that were lifted never, and leave no timer', () => {
    const act = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ lift: fc.nat({ max: 30 }) }),
      fc.record({ wait: fc.integer({ min: 1, max: 10 }) }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        inTime((time) => {
          const deadlines = new Deadlines();
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
              const [lifted] = due.splice(next.lift, 1);
              if (lifted?.deadline != null) deadlines.lift(lifted.deadline);
            } else pass(next.wait);
          }
          pass(20);
          expect(expired.sort()).toEqual(expected.sort());
          expect(time.isOver).toBe(true);
        })();
      }),
    );
  });
});
