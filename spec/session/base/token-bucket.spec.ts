import { describe, expect, it } from '@jest/globals';
import { TokenBucket } from '../../../src/util/time.js';
import { inTime } from '../../support/session/time.js';

/** Takes tokens until the bucket is empty, at most `most`, and returns their number. */
const drain = (bucket: TokenBucket, most = 100): number => {
  let taken = 0;
  while (taken < most && bucket.take()) taken++;
  return taken;
};

describe('TokenBucket', () => {
  it.each([0, 1, 2, 10])('TokenBucket grants its burst of %i at once, and no more', (burst) => {
    const bucket = new TokenBucket({ burst, perSecond: 1 });
    expect(bucket.empty).toBe(burst === 0);
    expect(drain(bucket)).toBe(burst);
    expect(bucket.empty).toBe(true);
    expect(bucket.take()).toBe(false);
  });

  it.each([
    [10, 99, 0],
    [10, 100, 1],
    [10, 250, 2],
    [10, 400, 4],
    [10, 60_000, 4],
    [0, 60_000, 0],
    [0.5, 1_999, 0],
    [0.5, 2_000, 1],
  ])(
    'With %d tokens a second, %i ms after it was emptied, TokenBucket has %i of its 4',
    inTime<[number, number, number]>((time, perSecond, ms, tokens) => {
      const bucket = new TokenBucket({ burst: 4, perSecond });
      drain(bucket);
      time.advance(ms);
      expect(bucket.empty).toBe(tokens === 0);
      expect(drain(bucket)).toBe(tokens);
    }),
  );

  it(
    'TokenBucket keeps a fraction of a token, however often a caller asks',
    inTime((time) => {
      const bucket = new TokenBucket({ burst: 1, perSecond: 1 });
      drain(bucket);
      for (let n = 0; n < 9; n++) {
        time.advance(100);
        expect([bucket.empty, bucket.take()]).toEqual([true, false]);
      }
      time.advance(101);
      expect([bucket.empty, bucket.take(), bucket.take()]).toEqual([false, true, false]);
    }),
  );

  it(
    'TokenBucket earns nothing while it is full',
    inTime((time) => {
      const bucket = new TokenBucket({ burst: 2, perSecond: 1 });
      time.advance(60_000);
      expect(drain(bucket)).toBe(2);
      time.advance(999);
      expect(bucket.take()).toBe(false);
    }),
  );

  it('TokenBucket adds earned tokens up to its burst', () => {
    const bucket = new TokenBucket({ burst: 3, perSecond: 0 });
    drain(bucket);
    bucket.earn(2);
    expect(drain(bucket)).toBe(2);
    bucket.earn(1_000);
    expect(drain(bucket)).toBe(3);
  });

  it(
    'TokenBucket loses no tokens when the clock is set back, and counts on from there',
    inTime((time) => {
      time.advance(10_000);
      const bucket = new TokenBucket({ burst: 2, perSecond: 1 });
      bucket.take();
      time.advance(-9_000);
      expect([bucket.take(), bucket.take()]).toEqual([true, false]);
      time.advance(1_000);
      expect([bucket.take(), bucket.take()]).toEqual([true, false]);
    }),
  );

  it('TokenBucket without a limit is never empty', () => {
    const bucket = new TokenBucket({ burst: Infinity, perSecond: 0 });
    expect([drain(bucket, 10_000), bucket.empty]).toEqual([10_000, false]);
  });
});
