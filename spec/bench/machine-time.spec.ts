import { expect, it } from '@jest/globals';
import { machineTime, machineTimeOf, stolenShare } from '../../bench/harness/machine-time.js';

it("`machineTimeOf` reads the time of all cores and the stolen time, and counts no guest's time twice", () => {
  expect(machineTimeOf('cpu  10 20 30 40 50 60 70 80 900 900\ncpu0 1 2 3 4 5 6 7 8 9 9\n')).toEqual({ all: 360, stolen: 80 });
});

it('`stolenShare` returns the share between two samples', () => {
  expect(stolenShare({ all: 1_000, stolen: 10 }, { all: 1_200, stolen: 16 })).toBe(0.03);
  expect(stolenShare({ all: 0, stolen: 0 }, { all: 0, stolen: 0 })).toBe(0);
});

it('`machineTime` never decreases', () => {
  const before = machineTime();
  expect(stolenShare(before, machineTime())).toBeGreaterThanOrEqual(0);
  expect(before.stolen).toBeLessThanOrEqual(before.all);
});
