import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { leastSquares, median, medianRatio, quantile } from '../../bench/harness/statistics.js';

/** fast-check prints the seed with a failure. */
const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

describe('the median', () => {
  it.each([
    ['The median of one value is the value', [7], 7],
    ['The median of an odd number of values is the middle one, in any order', [9, 1, 5], 5],
    ['The median of an even number of values is half-way between the two in the middle', [4, 1, 10, 2], 3],
    ['The median of negative and repeated values is the middle one', [-3, -3, 2], -3],
    ['The median of no values is NaN', [], NaN],
  ])('%s', (_title, values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('The median leaves its argument in the same order', () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it('The median has at most half of the values on either side', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const middle = median(values);
        expect(values.filter((value) => value < middle).length).toBeLessThanOrEqual(values.length / 2);
        expect(values.filter((value) => value > middle).length).toBeLessThanOrEqual(values.length / 2);
      }),
      SEED,
    );
  });
});

it.each([
  ['the least value', 0, 10],
  ['the greatest value', 1, 50],
  ['one of the values', 0.25, 20],
  ['between two values, in proportion', 0.9, 46],
])('`quantile` returns %s', (_title, share, expected) => {
  expect(quantile([50, 40, 30, 20, 10], share)).toBeCloseTo(expected, 10);
});

it.each<[string, [number | undefined, number | undefined][], number]>([
  [
    'of each round, not of the medians',
    [
      [2, 1],
      [30, 10],
      [8, 2],
    ],
    3,
  ],
  [
    'without rounds that lack a figure',
    [
      [2, 1],
      [undefined, 1],
      [3, undefined],
      [4, 1],
    ],
    3,
  ],
  [
    'without rounds whose reference is zero',
    [
      [2, 0],
      [5, 1],
    ],
    5,
  ],
  ['of no rounds', [], NaN],
])('The ratio is the median of the ratios %s', (_title, rounds, expected) => {
  expect(medianRatio(rounds)).toBe(expected);
});

describe('least squares', () => {
  it('Least squares find the line through points on a line', () => {
    const line = fc.record({ slope: fc.integer({ min: -100, max: 100 }), intercept: fc.integer({ min: -100, max: 100 }) });
    fc.assert(
      fc.property(line, fc.uniqueArray(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 2 }), ({ slope, intercept }, xs) => {
        const found = leastSquares(xs.map((x) => [x, intercept + slope * x]));
        expect(found.slope).toBeCloseTo(slope, 6);
        expect(found.intercept).toBeCloseTo(intercept, 6);
      }),
      SEED,
    );
  });

  it('Least squares find a line between points on no line', () => {
    const found = leastSquares([
      [0, 1],
      [1, 0],
      [2, 2],
    ]);
    expect(found.slope).toBeCloseTo(0.5, 10);
    expect(found.intercept).toBeCloseTo(0.5, 10);
  });

  it('Least squares find no slope when all points share one x', () => {
    expect(
      leastSquares([
        [1, 1],
        [1, 2],
      ]).slope,
    ).toBeNaN();
  });
});
