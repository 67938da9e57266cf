import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { steadyNow } from '../../src/util/time.js';
import { inTime } from '../support/session/time.js';
import { otherPlatform } from '../support/platform/globals.js';

const platform = otherPlatform();
const START_MS = 1_700_000_000_000;

/** A fresh clock; the test controls the system clock and the monotonic clock that it reads. */
async function newClock(): Promise<() => number> {
  jest.resetModules();
  const module = await import('../../src/util/time.js');
  return module.steadyNow;
}

describe('the steady clock', () => {
  let system = START_MS;
  let monotonic = 0;
  let monotonicNow: jest.SpiedFunction<() => number>;
  const pass = (ms: number): void => {
    system += ms;
    monotonic += ms;
  };

  beforeEach(() => {
    system = START_MS;
    monotonic = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => system);
    monotonicNow = jest.spyOn(performance, 'now').mockImplementation(() => monotonic);
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['set forward', 3_600_000],
    ['set back', -3_600_000],
  ])('The steady clock counts on while the system clock is %s', async (_how, shift) => {
    const now = await newClock();
    const start = now();
    pass(10);
    system += shift;
    pass(20);
    expect(now() - start).toBe(30);
    pass(40);
    expect(now() - start).toBe(70);
    pass(60_000);
    expect(now() - start).toBe(60_070);
  });

  it('The steady clock counts a whole day between two readings', async () => {
    const now = await newClock();
    const start = now();
    pass(86_400_000);
    expect(now() - start).toBe(86_400_000);
  });

  it('The steady clock counts a leap of less than a second as time, and never runs back', async () => {
    const now = await newClock();
    const start = now();
    pass(100);
    system += 800;
    expect(now() - start).toBe(900);
    system -= 800;
    pass(10);
    expect(now() - start).toBe(900);
  });

  it('The steady clock follows the fake clock of a test runner', async () => {
    const now = await newClock();
    const start = now();
    platform({ setInterval: () => 0 });
    system += 30_000;
    expect(now() - start).toBe(30_000);
  });

  it('The steady clock reads the monotonic clock only when the system clock leaps', async () => {
    const now = await newClock();
    now();
    const { calls } = monotonicNow.mock;
    const before = calls.length;
    for (let n = 0; n < 100; n++) {
      pass(500);
      now();
    }
    expect(calls).toHaveLength(before);
  });

  it('The steady clock never runs back on a platform without a monotonic clock', async () => {
    platform({ performance: undefined });
    const now = await newClock();
    const start = now();
    system += 60_000;
    expect(now() - start).toBe(60_000);
    system -= 3_600_000;
    expect(now() - start).toBe(60_000);
    system += 1;
    expect(now() - start).toBe(60_001);
  });
});

describe('the steady clock under a TestScheduler', () => {
  it(
    'The steady clock shows virtual time from its first reading on',
    inTime((time) => {
      const start = steadyNow();
      time.advance(7);
      expect(steadyNow() - start).toBe(7);
      time.advance(86_400_000);
      expect(steadyNow() - start).toBe(86_400_007);
    }),
  );

  it('The steady clock resumes real time after virtual time ends', () => {
    const start = steadyNow();
    inTime((time) => {
      steadyNow();
      time.advance(86_400_000);
      steadyNow();
    })();
    const passed = steadyNow() - start;
    expect([passed >= 0, passed < 43_200_000]).toEqual([true, true]);
  });
});
