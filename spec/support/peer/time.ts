import { afterEach, beforeEach } from '@jest/globals';
import { MemoryClock } from '../../../src/testing/memory-clock.js';
import { promisesSettled } from '../../../src/testing/virtual-time.js';

/** The time of one test. */
export interface PeerTime {
  readonly now: number;
  /** How many timers and turns are pending. */
  readonly pending: number;
  /** Advances time by `ms`. An error thrown by a task, or an unhandled rejection, fails the test. */
  advance(ms?: number): Promise<void>;
  /** Whether no task is left, so that nothing would ever happen again. */
  isOver(): boolean;
}

/**
 * Makes rxjs's time virtual for each test of a file. After each test its time advances for an instant, so that an error that
 * rxjs reports from a timer surfaces in the right test. Jest itself reports unhandled rejections.
 *
 * @param yielding waits for promises between two tasks
 */
export function virtualPeerTime(yielding: () => Promise<void> = promisesSettled): PeerTime {
  let clock = new MemoryClock();
  beforeEach(() => {
    clock = new MemoryClock();
    clock.install();
  });
  const advance = async (ms = 0): Promise<void> => {
    const until = clock.now + ms;
    do await yielding();
    while (clock.step(until));
  };
  afterEach(async () => {
    try {
      await advance();
    } finally {
      clock.uninstall();
    }
  });
  return {
    get now() {
      return clock.now;
    },
    get pending() {
      return clock.pending;
    },
    advance,
    isOver: () => !clock.step(Infinity),
  };
}
