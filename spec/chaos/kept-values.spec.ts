import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { createPair } from '../../src/testing.js';
import { JsonCodec } from '../../src/codec/json.js';
import { Fifo } from '../../src/util/collections.js';
import { completeFrame } from '../../src/wire/frame.js';
import { resolveLimits } from '../../src/wire/limits.js';
import { Reassembly } from '../../src/wire/reassembly.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Waits for a turn first, since the target of a new WeakRef is kept until the end of its turn. */
async function isCollected(reference: WeakRef<object>): Promise<boolean> {
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  return reference.deref() === undefined;
}

// A separate function, so that no variable of the test holds the value.
function pushed(queue: Fifo<object>): WeakRef<object> {
  const value = { big: 'x'.repeat(64) };
  queue.push(value);
  return new WeakRef(value);
}

describe('Fifo', () => {
  it('Fifo keeps its values, and releases a taken one while others wait', async () => {
    const queue = new Fifo<object>();
    const [first, second] = [pushed(queue), pushed(queue)];
    expect([await isCollected(first), await isCollected(second)]).toEqual([false, false]);
    queue.shift();
    expect([await isCollected(first), await isCollected(second)]).toEqual([true, false]);
    expect(queue.length).toBe(1);
  });
});

// A separate function, for the same reason.
function begun(reassembly: Reassembly): WeakRef<object> {
  const frame = completeFrame({ type: 'open', stream: 1, fragment: '1', more: true, reason: 'x'.repeat(64) });
  reassembly.accept(frame);
  return new WeakRef(frame);
}

describe('Reassembly', () => {
  it('Reassembly keeps no uncounted field of the first frame, such as a reason', async () => {
    const reassembly = new Reassembly(new JsonCodec(), resolveLimits({}));
    expect(await isCollected(begun(reassembly))).toBe(true);
    expect(reassembly.unfinished).toEqual([1]);
  });
});

describe('Peer', () => {
  it('Peer with an idle connection keeps no answer of its last request', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply({ big: 'x'.repeat(64) }));
    // A separate function, for the same reason.
    const answer = async (): Promise<WeakRef<object>> => new WeakRef(await dialer.request<object>('big'));
    const kept = await answer();
    expect([await isCollected(kept), dialer.status.state]).toEqual([true, 'open']);
    await dialer.close();
  });
});
