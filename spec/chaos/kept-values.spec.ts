import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { Fifo } from '../../src/wire/fifo.js';
import { completeFrame } from '../../src/wire/frame.js';
import { resolveLimits } from '../../src/wire/limits.js';
import { Reassembly } from '../../src/wire/reassembly.js';

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

// In a function of its own too.
function begun(reassembly: Reassembly): WeakRef<object> {
  const frame = completeFrame({ type: 'open', stream: 1, fragment: '1', more: true, reason: 'x'.repeat(64) });
  reassembly.accept(frame);
  return new WeakRef(frame);
}

describe('a payload that is not complete', () => {
  it('keeps nothing of its first frame that is not counted, such as a reason', async () => {
    const reassembly = new Reassembly(new JsonCodec(), resolveLimits({}));
    expect(await isCollected(begun(reassembly))).toBe(true);
    expect(reassembly.unfinished).toEqual([1]);
  });
});
