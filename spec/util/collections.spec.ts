import { describe, expect, it } from '@jest/globals';
import { Fifo, getOrMake, LazyMap, LazySet } from '../../src/util/collections.js';
import fc from '../support/fast-check.js';

describe('Fifo', () => {
  it('A Fifo is empty at first', () => {
    const queue = new Fifo<number>();
    expect([queue.length, queue.peek(), queue.shift()]).toEqual([0, undefined, undefined]);
  });

  it('A Fifo returns its items in order, however pushes and shifts mix', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1500, max: 1500 }), { maxLength: 12 }), (moves) => {
        const queue = new Fifo<number>();
        const model: number[] = [];
        let next = 0;
        for (const move of moves) {
          for (let count = 0; count < Math.abs(move); count++) {
            if (move > 0) {
              queue.push(next);
              model.push(next++);
            } else if (queue.peek() !== model[0] || queue.shift() !== model.shift()) throw new Error('expected the same item from both');
          }
          expect(queue.length).toBe(model.length);
        }
      }),
    );
  });

  it('A Fifo is empty again after clear', () => {
    const queue = new Fifo<string>();
    for (const item of ['a', 'b', 'c']) queue.push(item);
    queue.shift();
    queue.clear();
    expect([queue.length, queue.shift()]).toEqual([0, undefined]);
    queue.push('d');
    expect([queue.length, queue.peek(), queue.shift()]).toEqual([1, 'd', 'd']);
  });
});

describe('a lazy map', () => {
  it('A lazy map is empty and readable before its first entry', () => {
    const map = new LazyMap<string, number>();
    map.delete('a');
    map.clear();
    expect([map.size, map.get('a'), map.has('a'), [...map.keys()], [...map.values()], [...map.entries()]]).toEqual([
      0,
      undefined,
      false,
      [],
      [],
      [],
    ]);
  });

  it('A lazy map behaves as a Map, in the order of the entries', () => {
    const map = new LazyMap<string, number>();
    map.set('b', 1);
    map.set('a', 2);
    map.set('b', 3);
    expect([map.size, map.get('b'), [...map.keys()], [...map.values()]]).toEqual([2, 3, ['b', 'a'], [3, 2]]);
    expect([...map.entries()]).toEqual([
      ['b', 3],
      ['a', 2],
    ]);
    map.delete('b');
    expect([map.size, map.get('b'), map.has('b'), map.has('a'), [...map.keys()]]).toEqual([1, undefined, false, true, ['a']]);
    map.clear();
    expect([map.size, map.get('a')]).toEqual([0, undefined]);
  });

  it('A lazy map shares no entries with another', () => {
    const [one, other] = [new LazyMap<number, number>(), new LazyMap<number, number>()];
    one.set(1, 1);
    expect([one.size, other.size]).toEqual([1, 0]);
  });
});

describe('a lazy set', () => {
  it('A lazy set is empty and readable before its first value', () => {
    const set = new LazySet<string>();
    expect(set.delete('a')).toBe(false);
    set.clear();
    expect([set.size, set.has('a'), [...set]]).toEqual([0, false, []]);
  });

  it('A lazy set behaves as a Set, and reports whether it held a deleted value', () => {
    const set = new LazySet<string>();
    for (const value of ['b', 'a', 'b']) set.add(value);
    expect([set.size, set.has('a'), [...set]]).toEqual([2, true, ['b', 'a']]);
    expect([set.delete('b'), set.delete('b'), set.size]).toEqual([true, false, 1]);
    set.clear();
    expect([set.size, set.has('a')]).toEqual([0, false]);
  });

  it('A lazy set emits values that are added during its iteration', () => {
    const set = new LazySet<number>();
    set.add(1);
    const seen: number[] = [];
    for (const value of set) {
      seen.push(value);
      if (value < 4) set.add(value + 1);
    }
    expect(seen).toEqual([1, 2, 3, 4]);
  });
});

describe('get or make', () => {
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
});
