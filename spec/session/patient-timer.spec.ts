import { describe, expect, it } from '@jest/globals';
import { LONGEST_TIMER_MS, patientTimer, restTimer } from '../../src/session/patient-timer.js';
import { inTime } from '../support/session-time.js';
import type { SessionTime } from '../support/session-time.js';

/** What a timer emits, and when. */
const watch = (timer$: ReturnType<typeof patientTimer>, time: SessionTime): unknown[] => {
  const seen: unknown[] = [];
  timer$.subscribe({
    next: ({ onTime }) => seen.push([time.now, onTime]),
    complete: () => seen.push('over'),
  });
  return seen;
};

describe('a patient timer', () => {
  it.each([
    ['on time', 1_000, true],
    ['late', 1_500, true],
    ['twice too late', 2_000, true],
    ['more than twice too late', 2_001, false],
    ['a night too late', 30_000_000, false],
  ])(
    'that comes %s says so',
    inTime<[string, number, boolean]>((time, _what, at, onTime) => {
      const seen = watch(patientTimer(1_000), time);
      time.sleep(at);
      expect(seen).toEqual([[at, onTime], 'over']);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'emits once, neither before its time nor again',
    inTime((time) => {
      const seen = watch(patientTimer(1_000), time);
      time.advance(999);
      expect(seen).toEqual([]);
      time.advance(10_000);
      expect(seen).toEqual([[1_000, true], 'over']);
    }),
  );

  it(
    'counts from the subscription, each on its own',
    inTime((time) => {
      const timer$ = patientTimer(1_000);
      time.advance(50_000);
      const first = watch(timer$, time);
      time.advance(500);
      const second = watch(timer$, time);
      time.advance(1_000);
      expect([first, second]).toEqual([
        [[51_000, true], 'over'],
        [[51_500, true], 'over'],
      ]);
    }),
  );

  it(
    'leaves nothing behind when nobody waits any more',
    inTime((time) => {
      const subscription = patientTimer(1_000).subscribe();
      expect(time.isOver).toBe(false);
      subscription.unsubscribe();
      expect(time.isOver).toBe(true);
    }),
  );

  it.each([
    [LONGEST_TIMER_MS, false],
    [LONGEST_TIMER_MS + 1, true],
    [Infinity, true],
  ])(
    'of %d ms never comes, rather than at once: %s',
    inTime<[number, boolean]>((time, ms, never) => {
      const seen = watch(patientTimer(ms), time);
      expect(time.isOver).toBe(never);
      time.advance(LONGEST_TIMER_MS);
      expect(seen).toHaveLength(never ? 0 : 2);
    }),
  );
});

describe('the timer for the rest of a period', () => {
  it.each([
    ['takes the rest', false, 30, 100, 30],
    ['takes at least a ms', false, 0, 100, 1],
    ['takes at least a ms where the period is over already', false, -500, 100, 1],
    ['takes the rest of a clock that stands still', true, 30, 100, 30],
    ['looks no more than ten times a period while the clock stands still', true, 3, 100, 10],
    ['looks so though the period is over, while the clock stands still', true, -5, 100, 10],
  ])(
    '%s',
    inTime<[string, boolean, number, number, number]>((time, _what, paused, rest, period, at) => {
      const seen = watch(restTimer({ now: () => 0, paused }, rest, period), time);
      time.advance(1_000);
      expect(seen).toEqual([[at, true], 'over']);
    }),
  );
});
