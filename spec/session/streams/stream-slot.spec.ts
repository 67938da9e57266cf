import { describe, expect, it } from '@jest/globals';
import type { StreamSlot } from '../../../src/session/streams/stream-slot.js';
import { StreamTable } from '../../../src/session/streams/stream-table.js';

type Step = 'handlerStarted' | 'handlerSettled' | 'close' | 'awaitReset' | 'resetWritten';

const table = () => new StreamTable(true, 1);

/** The number of occupied slots after each step: 1 while the slot is kept. */
const occupancy = (steps: readonly Step[]): number[] => {
  const streams = table();
  const slot = streams.takeSlot();
  return steps.map((step) => {
    slot[step]();
    return streams.occupied;
  });
};

describe('StreamSlot', () => {
  it.each<[string, readonly Step[], readonly number[]]>([
    ['until the stream closes, without a handler', ['close'], [0]],
    ['until the stream closes, after its handler has settled', ['handlerStarted', 'handlerSettled', 'close'], [1, 1, 0]],
    ['until the handler has settled, after the stream has closed', ['handlerStarted', 'close', 'handlerSettled'], [1, 1, 0]],
    ['until the reset is written', ['awaitReset', 'close', 'resetWritten'], [1, 1, 0]],
    [
      'until the reset is written, after the handler has settled',
      ['handlerStarted', 'awaitReset', 'close', 'handlerSettled', 'resetWritten'],
      [1, 1, 1, 1, 0],
    ],
    [
      'until the handler has settled, after the reset is written',
      ['handlerStarted', 'awaitReset', 'close', 'resetWritten', 'handlerSettled'],
      [1, 1, 1, 1, 0],
    ],
    ['until the stream closes, after the reset is written', ['awaitReset', 'resetWritten', 'close'], [1, 1, 0]],
    ['until the stream closes, even if a handler starts later', ['close', 'handlerStarted', 'handlerSettled'], [0, 0, 0]],
    ['until the stream closes, and is freed only once', ['close', 'close', 'handlerSettled', 'resetWritten'], [0, 0, 0, 0]],
  ])('StreamSlot stays occupied %s', (_what, steps, occupied) => {
    expect(occupancy(steps)).toEqual(occupied);
  });

  it('`running` is true from the start of the handler until it has settled', () => {
    const slot = table().takeSlot();
    const seen = (step: Step) => {
      slot[step]();
      return slot.running;
    };
    expect(slot.running).toBe(false);
    expect([seen('handlerStarted'), seen('close'), seen('handlerSettled')]).toEqual([true, true, false]);
    expect(seen('handlerStarted')).toBe(false);
  });

  it('`takeSlot` returns a separate slot for each stream', () => {
    const streams = table();
    const places: readonly StreamSlot[] = [streams.takeSlot(), streams.takeSlot(), streams.takeSlot()];
    expect(streams.occupied).toBe(3);
    places[1]?.close();
    places[1]?.close();
    expect(streams.occupied).toBe(2);
  });

  it('StreamTable does not count a slot as a stream', () => {
    const streams = table();
    streams.takeSlot();
    expect([streams.occupied, streams.size, streams.values()]).toEqual([1, 0, []]);
  });
});
