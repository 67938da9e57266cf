import { describe, expect, it } from '@jest/globals';
import { slopeOf } from './slope.js';

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
