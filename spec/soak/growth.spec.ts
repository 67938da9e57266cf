import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { growth, growthBetween } from './growth.js';
import { slopeOf } from './slope.js';

describe('the growth of a heap', () => {
  const folder = mkdtempSync(join(tmpdir(), 'growth-'));

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it("`growth` counts objects, and reports classes that grow by one in ten rounds, without the engine's own", () => {
    const before = [
      { name: 'Session', count: 1, bytes: 100 },
      { name: 'Timeout', count: 5, bytes: 50 },
      { name: '(code)', count: 10, bytes: 1_000 },
    ];
    const after = [
      { name: 'Session', count: 11, bytes: 1_100 },
      { name: 'Timeout', count: 3, bytes: 30 },
      { name: 'function heard', count: 9, bytes: 90 },
      { name: '(code)', count: 900, bytes: 90_000 },
      { name: 'system / Context', count: 500, bytes: 5_000 },
    ];
    expect(growth(before, after, 100)).toEqual({ objects: 10 - 2 + 9, classes: ['Session'] });
  });

  it('`growthBetween` reads two heap snapshots, and deletes their files', async () => {
    const meta = { node_fields: ['type', 'name', 'self_size'], node_types: [['object']] };
    const look = (name: string, rows: readonly number[][]): string => {
      const file = join(folder, name);
      writeFileSync(file, JSON.stringify({ snapshot: { meta }, nodes: rows.flat(), strings: ['Kept', 'Peer'] }));
      return file;
    };
    const peer = [0, 1, 80];
    const kept = [0, 0, 16];
    const looks = [look('before', [peer, kept]), look('after', [peer, kept, kept, kept])] as const;
    expect(await growthBetween(...looks, 20)).toEqual({ objects: 2, classes: ['Kept'] });
    expect(looks.filter((file) => existsSync(file))).toEqual([]);
  });
});

const samples = (ys: readonly number[]): { x: number; y: number }[] => ys.map((y, x) => ({ x, y }));

describe('slopeOf', () => {
  it.each<readonly [what: string, ys: readonly number[], slope: number, standardError: number]>([
    ['an exact line', [1, 3, 5, 7], 2, 0],
    ['no rise', [4, 4, 4], 0, 0],
    ['a fall', [3, 2, 1], -1, 0],
    // By hand: of the squares, 4 in all, a slope of 3/10 explains 0.9; the rest has three degrees of freedom.
    ['noise around a rise', [2, 4, 2, 3, 4], 0.3, Math.sqrt((4 - 0.9) / 3 / 10)],
  ])('`slopeOf` fits %s', (_what, ys, slope, standardError) => {
    const fitted = slopeOf(samples(ys));
    expect(fitted.slope).toBeCloseTo(slope);
    expect(fitted.standardError).toBeCloseTo(standardError);
  });

  it('`slopeOf` finds a rise many standard errors from zero, and noise few', () => {
    const noise = [0, 5, 2, 6, 1, 4, 3, 6, 0, 5];
    expect(Math.abs(slopeOf(samples(noise)).t)).toBeLessThan(3);
    expect(slopeOf(samples(noise.map((y, x) => y + 10 * x))).t).toBeGreaterThan(3);
    expect(slopeOf(samples([1, 2, 3])).t).toBe(Infinity);
    expect(slopeOf(samples([1, 1, 1])).t).toBe(0);
  });

  it('`slopeOf` throws for fewer than three samples', () => {
    expect(() => slopeOf(samples([1, 2]))).toThrow(RangeError);
  });
});
