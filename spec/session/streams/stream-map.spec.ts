import { describe, expect, it, jest } from '@jest/globals';
import fc from '../../support/fast-check.js';
import { hashOf, StreamMap } from '../../../src/connection/stream-map.js';
import { otherPlatform } from '../../support/platform/globals.js';

const platform = otherPlatform();

/** Seeds under which sequential ids lie side by side, and seeds that spread them. */
const SEEDS = [0, 1, -1, 0x5bd1e995];

const id = fc.oneof(
  fc.nat(40),
  fc.nat(2 ** 31 - 1),
  fc.integer({ min: 2 ** 31, max: Number.MAX_SAFE_INTEGER }),
  fc.nat(40).map((n) => n * 2 ** 32 + 1),
);

describe('StreamMap', () => {
  it('StreamMap holds the same values as a Map after any steps and under any seed', () => {
    const step = fc.record({ id, takes: fc.boolean() });
    fc.assert(
      fc.property(fc.integer(), fc.array(step, { maxLength: 400 }), (seed, steps) => {
        const map = new StreamMap<string>(seed);
        const model = new Map<number, string>();
        for (const [nth, { id, takes }] of steps.entries()) {
          if (takes) {
            map.delete(id);
            model.delete(id);
          } else {
            map.set(id, `value ${nth}`);
            model.set(id, `value ${nth}`);
          }
          expect([map.size, map.get(id)]).toEqual([model.size, model.get(id)]);
        }
        for (const known of steps) expect(map.get(known.id)).toBe(model.get(known.id));
        expect(map.values()).toEqual([...model].sort(([one], [other]) => one - other).map(([, value]) => value));
      }),
    );
  });

  it('StreamMap counts an id once, however often it is set', () => {
    const map = new StreamMap<string>(7);
    map.set(1, 'first');
    map.set(1, 'second');
    expect([map.size, map.get(1), map.values()]).toEqual([1, 'second', ['second']]);
    for (let id = 0; id < 8; id++) map.set(3, 'again');
    expect([map.size, map.capacity]).toEqual([2, 4]);
  });

  it.each(SEEDS)('StreamMap stays correct while thousands of rising ids are set and deleted, with seed %p', (seed) => {
    const map = new StreamMap<number>(seed);
    for (let id = 1; id <= 20_000; id += 2) {
      map.set(id, id);
      if (id > 600) map.delete(id - 600);
    }
    expect(map.size).toBe(300);
    expect(map.values()).toEqual(Array.from({ length: 300 }, (_, nth) => 19_401 + 2 * nth));
    expect([map.get(19_399), map.get(19_401), map.get(19_400)]).toEqual([undefined, 19_401, undefined]);
  });

  it('StreamMap grows with its values and shrinks after a burst', () => {
    const map = new StreamMap<number>(7);
    expect(map.capacity).toBe(4);
    for (let id = 1; id <= 3; id++) map.set(id, id);
    expect(map.capacity).toBe(4);
    map.set(4, 4);
    expect(map.capacity).toBe(8);
    for (let id = 5; id <= 100_000; id++) map.set(id, id);
    expect(map.capacity).toBe(262_144);
    for (let id = 1; id <= 100_000 - 32_768; id++) map.delete(id);
    expect(map.capacity).toBe(262_144);
    map.delete(100_000);
    expect(map.capacity).toBe(131_072);
    for (let id = 1; id <= 100_000; id++) map.delete(id);
    expect([map.size, map.capacity, map.values()]).toEqual([0, 256, []]);
  });

  it('StreamMap does not take its seed from `Math.random`', () => {
    const random = jest.spyOn(Math, 'random');
    const seeds = Array.from({ length: 8 }, () => new StreamMap<number>().seed);
    expect([random.mock.calls.length, new Set(seeds).size > 1]).toEqual([0, true]);
    random.mockRestore();
  });

  it('StreamMap takes its seed from `Math.random` on a platform without `crypto`', () => {
    platform({ crypto: undefined });
    const random = jest.spyOn(Math, 'random').mockReturnValueOnce(0.25).mockReturnValueOnce(0.75);
    const seeds = [new StreamMap<number>().seed, new StreamMap<number>().seed];
    random.mockRestore();
    expect(seeds).toEqual([2 ** 30, -(2 ** 30)]);
  });
});

describe('hashOf', () => {
  // Each family would fill one slot of a table that used only the low bits of an id, or only the high ones.
  it.each([
    ['in sequence', (nth: number) => 2 * nth + 1],
    ['with equal low bits', (nth: number) => nth * 2 ** 20 + 1],
    ['that differ only above 2^32', (nth: number) => nth * 2 ** 32 + 1],
    ['at the end of the range', (nth: number) => Number.MAX_SAFE_INTEGER - 2 * nth],
  ])('`hashOf` spreads ids %s', (_, idOf) => {
    for (const seed of SEEDS) {
      const slots = new Map<number, number>();
      for (let nth = 0; nth < 1_000; nth++) {
        const slot = hashOf(idOf(nth), seed) & 2047;
        slots.set(slot, (slots.get(slot) ?? 0) + 1);
      }
      expect(Math.max(...slots.values())).toBeLessThan(10);
    }
  });

  it('`hashOf` returns another hash for each seed', () => {
    const hashes = Array.from({ length: 1_000 }, (_, seed) => hashOf(1, seed));
    expect(new Set(hashes).size).toBe(1_000);
  });
});
