import { expect, it } from '@jest/globals';
import { getOrMake } from '../../src/util/collections.js';

it('`getOrMake` makes the value of a key once', () => {
  const kept = new Map<string, object>();
  const made = [getOrMake(kept, 'a', () => ({ n: 1 })), getOrMake(kept, 'a', () => ({ n: 2 })), getOrMake(kept, 'b', () => ({ n: 3 }))];
  expect(made).toEqual([{ n: 1 }, { n: 1 }, { n: 3 }]);
  expect(made[1]).toBe(made[0]);
});

it('`getOrMake` keeps a value that counts as false', () => {
  const kept = new WeakMap<object, number>();
  const key = {};
  expect([getOrMake(kept, key, () => 0), getOrMake(kept, key, () => 1)]).toEqual([0, 0]);
});
