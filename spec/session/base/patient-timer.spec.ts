import { describe, expect, it } from '@jest/globals';
import { Subscription } from 'rxjs';
import { patientTimer, restTimer } from '../../../src/util/time.js';
import { LONGEST_TIMER_MS } from '../../../src/util/time.js';
import { inTime } from '../../support/session/time.js';
import type { SessionTime } from '../../support/session/time.js';

/** Records the emissions of a timer and their times. */
const watch = (time: SessionTime, start: (due: (onTime: boolean) => void) => unknown): unknown[] => {
  const seen: unknown[] = [];
  start((onTime) => seen.push([time.now, onTime]));
  return seen;
};

describe('patientTimer', () => {
  it.each([
    ['on time', 1_000, true],
    ['late', 1_500, true],
    ['twice too late', 2_000, true],
    ['more than twice too late', 2_001, false],
    ['a night too late', 30_000_000, false],
  ])(
    '`patientTimer` reports whether it was on time when it comes %s',
    inTime<[string, number, boolean]>((time, _what, at, onTime) => {
      const seen = watch(time, (due) => patientTimer(1_000, due));
      time.sleep(at);
      expect(seen).toEqual([[at, onTime]]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    '`patientTimer` emits exactly once, at its time',
    inTime((time) => {
      const seen = watch(time, (due) => patientTimer(1_000, due));
      time.advance(999);
      expect(seen).toEqual([]);
      time.advance(10_000);
      expect(seen).toEqual([[1_000, true]]);
    }),
  );

  it(
    '`patientTimer` cancels its timer on unsubscribe',
    inTime((time) => {
      let timer = Subscription.EMPTY;
      const seen = watch(time, (due) => (timer = patientTimer(1_000, due)));
      expect(time.isOver).toBe(false);
      timer.unsubscribe();
      expect(time.isOver).toBe(true);
      time.advance(10_000);
      expect(seen).toEqual([]);
    }),
  );

  it.each([
    [LONGEST_TIMER_MS, false],
    [LONGEST_TIMER_MS + 1, true],
    [Infinity, true],
  ])(
    '`patientTimer` of %d ms never emits: %s',
    inTime<[number, boolean]>((time, ms, never) => {
      const seen = watch(time, (due) => patientTimer(ms, due));
      expect(time.isOver).toBe(never);
      time.advance(LONGEST_TIMER_MS);
      expect(seen).toEqual(never ? [] : [[LONGEST_TIMER_MS, true]]);
    }),
  );
});

describe('restTimer', () => {
  it.each([
    ['the rest', false, 30, 100, 30],
    ['at least 1 ms', false, 0, 100, 1],
    ['at least 1 ms when the period is already over', false, -500, 100, 1],
    ['the rest while the clock is paused', true, 30, 100, 30],
    ['at least a tenth of the period while the clock is paused', true, 3, 100, 10],
    ['a tenth of the period when it is over and the clock is paused', true, -5, 100, 10],
  ])(
    '`restTimer` waits for %s',
    inTime<[string, boolean, number, number, number]>((time, _what, paused, rest, period, at) => {
      const seen = watch(time, (due) => restTimer({ now: () => 0, paused }, rest, period, due));
      time.advance(1_000);
      expect(seen).toEqual([[at, true]]);
    }),
  );

  it.each([
    ['a short rest that is late by a tenth of the period', 1, 11, true],
    ['a short rest that is late by more than a tenth of the period', 1, 12, false],
    ['a long rest that is late by as much again', 60, 120, true],
    ['a long rest that is later', 60, 121, false],
  ])(
    '`restTimer` reports whether it was on time after %s',
    inTime<[string, number, number, boolean]>((time, _what, rest, at, onTime) => {
      const seen = watch(time, (due) => restTimer({ now: () => 0, paused: false }, rest, 100, due));
      time.sleep(at);
      expect(seen).toEqual([[at, onTime]]);
    }),
  );
});
