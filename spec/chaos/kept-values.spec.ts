import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { Fifo } from '../../src/wire/fifo.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** A turn goes by first: what a WeakRef was made of is kept to the end of its turn. */
async function isCollected(reference: WeakRef<object>): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  return reference.deref() === undefined;
}

// Made in a function of its own, so that no variable of the test holds it.
function pushed(queue: Fifo<object>): WeakRef<object> {
  const value = { big: 'x'.repeat(64) };
  queue.push(value);
  return new WeakRef(value);
}

describe('a queue whose values may be big', () => {
  it('keeps what it holds, and lets go of what was taken while others wait', async () => {
    const queue = new Fifo<object>();
    const [first, second] = [pushed(queue), pushed(queue)];
    expect([await isCollected(first), await isCollected(second)]).toEqual([false, false]);
    queue.shift();
    expect([await isCollected(first), await isCollected(second)]).toEqual([true, false]);
    expect(queue.length).toBe(1);
  });
});
