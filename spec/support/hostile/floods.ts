import { expect, jest } from '@jest/globals';
import { logger } from '../../../src/logger.js';
import type { HostileCase, Step } from './case.js';
import type { Envelope } from '../peer/frames.js';

/** So many of something; the n-th is made from n, which begins with 0. */
export const times = <T>(count: number, item: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n));

/** The id of the n-th stream that the remote is free to open. */
export const idOf = (n: number): number => 3 + 2 * n;

/** So many opens of new streams. */
export const opens = (count: number, open: Envelope = { payload: 'p' }): Envelope[] =>
  times(count, (n) => ({ type: 'open', stream: idOf(n), ...open }));

/** How many steps a remote takes in one turn: handlers settle in between. */
const STEPS_A_TURN = 300;

/** The steps, with a turn of the event loop now and then; no time passes. */
export const inTurns = (steps: readonly Step[]): Step[] => steps.flatMap((step, n) => (n % STEPS_A_TURN === 0 ? [0, step] : [step]));

/** The same cases; after each, nothing that is seen may have been logged, and a few lines a step for whoever debugs. */
export const quietly = (cases: readonly HostileCase[]): readonly HostileCase[] =>
  cases.map((each) => ({
    ...each,
    send: (codec) => {
      const steps = typeof each.send === 'function' ? each.send(codec) : each.send;
      return [...steps, 0, () => checkQuiet(steps.length)];
    },
  }));

/** For a frame that came, what was wrong with it, and what was answered. */
const LINES_A_STEP = 3;
/** The opens of the innocent streams. */
const FIRST_FRAMES = 2;

function checkQuiet(steps: number): void {
  const lines = (level: 'debug' | 'info' | 'warn' | 'error'): number => jest.mocked(logger[level]).mock.calls.length;
  expect([lines('info'), lines('error')]).toEqual([0, 0]);
  // One a minute for each code of a refusal.
  expect(lines('warn')).toBeLessThanOrEqual(1);
  expect(lines('debug')).toBeLessThanOrEqual(LINES_A_STEP * (steps + FIRST_FRAMES));
}
