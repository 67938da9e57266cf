import { describe, expect, it } from '@jest/globals';
import type { StreamSlot } from '../../../src/session/streams/stream-slot.js';
import { StreamTable } from '../../../src/session/streams/stream-table.js';

type Step = 'handlerStarted' | 'handlerSettled' | 'close' | 'awaitReset' | 'resetWritten';

const table = () => new StreamTable(true, 1);

/** What is taken of the table after each step: 1 while the slot is kept. */
const occupancy = (steps: readonly Step[]): number[] => {
  const streams = table();
  const slot = streams.takeSlot();
  return steps.map((step) => {
    slot[step]();
    return streams.occupied;
  });
};

describe('the slot of a remote-opened stream, one of maxStreams', () => {
  it.each<[string, readonly Step[], readonly number[]]>([
    ['goes with the stream where no handler ran', ['close'], [0]],
    ['is kept for a live stream whose handler has settled', ['handlerStarted', 'handlerSettled', 'close'], [1, 1, 0]],
    ['is kept for a handler that has not settled, though the stream is closed', ['handlerStarted', 'close', 'handlerSettled'], [1, 1, 0]],
    ['is kept until a reset is written', ['awaitReset', 'close', 'resetWritten'], [1, 1, 0]],
    [
      'is kept for both: the handler settles first',
      ['handlerStarted', 'awaitReset', 'close', 'handlerSettled', 'resetWritten'],
      [1, 1, 1, 1, 0],
    ],
    [
      'is kept for both: the reset is written first',
      ['handlerStarted', 'awaitReset', 'close', 'resetWritten', 'handlerSettled'],
      [1, 1, 1, 1, 0],
    ],
    ['is kept for a live stream whose reset is written', ['awaitReset', 'resetWritten', 'close'], [1, 1, 0]],
    ['is not taken again by a handler that begins after the end', ['close', 'handlerStarted', 'handlerSettled'], [0, 0, 0]],
    ['is given back once, whatever comes later', ['close', 'close', 'handlerSettled', 'resetWritten'], [0, 0, 0, 0]],
  ])('%s', (_what, steps, occupied) => {
    expect(occupancy(steps)).toEqual(occupied);
  });

  it('knows whether the handler is at work', () => {
    const slot = table().takeSlot();
    const seen = (step: Step) => {
      slot[step]();
      return slot.running;
    };
    expect(slot.running).toBe(false);
    expect([seen('handlerStarted'), seen('close'), seen('handlerSettled')]).toEqual([true, true, false]);
    expect(seen('handlerStarted')).toBe(false);
  });

  it('is one of its own for each stream', () => {
    const streams = table();
    const places: readonly StreamSlot[] = [streams.takeSlot(), streams.takeSlot(), streams.takeSlot()];
    expect(streams.occupied).toBe(3);
    places[1]?.close();
    places[1]?.close();
    expect(streams.occupied).toBe(2);
  });

  it('is no stream of the table', () => {
    const streams = table();
    streams.takeSlot();
    expect([streams.occupied, streams.size, streams.values()]).toEqual([1, 0, []]);
  });
});
