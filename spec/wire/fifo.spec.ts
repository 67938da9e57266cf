import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { Fifo } from '../../src/util/collections.js';

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
