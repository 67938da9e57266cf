import { describe, expect, it } from '@jest/globals';
import type { Place } from '../../src/session/place.js';
import { StreamTable } from '../../src/session/stream-table.js';

type Step = 'run' | 'settle' | 'close' | 'awaitReset' | 'resetWritten';

const table = () => new StreamTable(true, 1);

/** What is taken of the table behind each step: 1 while the place is kept. */
const occupancy = (steps: readonly Step[]): number[] => {
  const streams = table();
  const place = streams.place();
  return steps.map((step) => {
    place[step]();
    return streams.occupied;
  });
};

describe('the place of a remote-opened stream, one of maxStreams', () => {
  it.each<[string, readonly Step[], readonly number[]]>([
    ['goes with the stream where no handler ran', ['close'], [0]],
    ['is kept for a live stream whose handler has settled', ['run', 'settle', 'close'], [1, 1, 0]],
    ['is kept for a handler that has not settled, though the stream is closed', ['run', 'close', 'settle'], [1, 1, 0]],
    ['is kept until a reset is written', ['awaitReset', 'close', 'resetWritten'], [1, 1, 0]],
    ['is kept for both: the handler settles first', ['run', 'awaitReset', 'close', 'settle', 'resetWritten'], [1, 1, 1, 1, 0]],
    ['is kept for both: the reset is written first', ['run', 'awaitReset', 'close', 'resetWritten', 'settle'], [1, 1, 1, 1, 0]],
    ['is kept for a live stream whose reset is written', ['awaitReset', 'resetWritten', 'close'], [1, 1, 0]],
    ['is not taken again by a handler that begins behind the end', ['close', 'run', 'settle'], [0, 0, 0]],
    ['is given back once, whatever comes later', ['close', 'close', 'settle', 'resetWritten'], [0, 0, 0, 0]],
  ])('%s', (_what, steps, occupied) => {
    expect(occupancy(steps)).toEqual(occupied);
  });

  it('knows whether the handler is at work', () => {
    const place = table().place();
    const seen = (step: Step) => {
      place[step]();
      return place.running;
    };
    expect(place.running).toBe(false);
    expect([seen('run'), seen('close'), seen('settle')]).toEqual([true, true, false]);
    expect(seen('run')).toBe(false);
  });

  it('is one of its own for each stream', () => {
    const streams = table();
    const places: readonly Place[] = [streams.place(), streams.place(), streams.place()];
    expect(streams.occupied).toBe(3);
    places[1]?.close();
    places[1]?.close();
    expect(streams.occupied).toBe(2);
  });

  it('is no stream of the table', () => {
    const streams = table();
    streams.place();
    expect([streams.occupied, streams.size, streams.values()]).toEqual([1, 0, []]);
  });
});
