import { expect, jest } from '@jest/globals';
import { logger } from '../../../src/logger.js';
import type { HostileCase, Step } from './case.js';
import type { Envelope } from '../peer/frames.js';

/** Returns `count` items, each made from its index. */
export const times = <T>(count: number, item: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => item(n));

/** The id of the n-th stream that the remote may open. */
export const idOf = (n: number): number => 3 + 2 * n;

/** Returns `count` opens of new streams. */
export const opens = (count: number, open: Envelope = { payload: 'p' }): Envelope[] =>
  times(count, (n) => ({ type: 'open', stream: idOf(n), ...open }));

/** How many steps a remote takes in one turn. Handlers settle between turns. */
const STEPS_A_TURN = 300;

/** The steps, with a turn of the event loop after every few hundred. No time passes. */
export const inTurns = (steps: readonly Step[]): Step[] => steps.flatMap((step, n) => (n % STEPS_A_TURN === 0 ? [0, step] : [step]));

/** The same cases, with a check of the logs after each: no visible lines, and only a few debug lines a step. */
export const quietly = (cases: readonly HostileCase[]): readonly HostileCase[] =>
  cases.map((each) => ({
    ...each,
    send: (codec) => {
      const steps = typeof each.send === 'function' ? each.send(codec) : each.send;
      return [...steps, 0, () => checkQuiet(steps.length)];
    },
  }));

/** One line each for a received frame, its fault, and the answer. */
const LINES_A_STEP = 3;
/** The opens of the innocent streams. */
const FIRST_FRAMES = 2;

function checkQuiet(steps: number): void {
  const lines = (level: 'debug' | 'info' | 'warn' | 'error'): number => jest.mocked(logger[level]).mock.calls.length;
  expect([lines('info'), lines('error')]).toEqual([0, 0]);
  // The peer warns once a minute for each refusal code.
  expect(lines('warn')).toBeLessThanOrEqual(1);
  expect(lines('debug')).toBeLessThanOrEqual(LINES_A_STEP * (steps + FIRST_FRAMES));
}
