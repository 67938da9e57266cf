import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { Heap } from './heap.js';
import type { Ranked } from './heap.js';

/** An item that counts the reads of its rank. */
class Counted implements Ranked {
  static looks = 0;
  place = -1;

  constructor(public value: number) {}

  get rank(): number {
    Counted.looks++;
    return this.value;
  }
}

describe('Heap', () => {
  it('A Heap is empty at first', () => {
    expect(new Heap().lowest).toBeUndefined();
  });

  it('A Heap has its lowest item in front, however items come, move and leave', () => {
    const act = fc.record({
      what: fc.constantFrom('add', 'add', 'delete', 'move'),
      which: fc.nat(),
      rank: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 120 }), (acts) => {
        const heap = new Heap<Counted>();
        const items: Counted[] = [];
        for (const { what, which, rank } of acts) {
          const item = items[which % items.length];
          if (what === 'add' || item === undefined) {
            const added = new Counted(rank);
            items.push(added);
            heap.add(added);
          } else if (what === 'delete') {
            items.splice(items.indexOf(item), 1);
            heap.delete(item);
          } else {
            item.value = rank;
            heap.move(item);
          }
          expect(heap.lowest?.value ?? Infinity).toBe(Math.min(...items.map(({ value }) => value)));
        }
        for (let left = items.length; left > 0; left--) if (heap.lowest !== undefined) heap.delete(heap.lowest);
        expect(heap.lowest).toBeUndefined();
      }),
    );
  });

  it.each([1, 2, 3, 100, 128])('A Heap returns %d items in order of their ranks', (count) => {
    const heap = new Heap<Counted>();
    for (let n = 0; n < count; n++) heap.add(new Counted((n * 7919) % 101));
    const ranks: number[] = [];
    for (let { lowest } = heap; lowest !== undefined; lowest = heap.lowest) {
      ranks.push(lowest.value);
      heap.delete(lowest);
    }
    expect(ranks).toEqual(Array.from({ length: count }, (_, n) => (n * 7919) % 101).sort((one, other) => one - other));
  });

  it('A Heap reads few of many ranks', () => {
    const heap = new Heap<Counted>();
    const items = Array.from({ length: 2 ** 14 }, (_, n) => new Counted((n * 7919) % 2 ** 14));
    for (const item of items) heap.add(item);
    const looks = (act: () => void): number => {
      Counted.looks = 0;
      act();
      return Counted.looks;
    };
    const each = items.map(
      (item) =>
        looks(() => {
          heap.delete(item);
        }) +
        looks(() => {
          heap.add(item);
        }),
    );
    // At most 14 levels up or down with two pairs to compare at each, and 14 levels up again.
    expect(Math.max(...each)).toBeLessThanOrEqual(14 * 4 + 14 * 2);
  });
});
