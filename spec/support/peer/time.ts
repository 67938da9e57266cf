import { afterEach, beforeEach } from '@jest/globals';
import { MemoryClock, promisesSettled } from '../../../src/testing/memory-clock.js';

/** The time of one test. */
export interface PeerTime {
  readonly now: number;
  /** Timers, and turns, that are still to come. */
  readonly pending: number;
  /** Goes on by so many ms; what a task throws on the way, or a promise nobody handles, fails the test. */
  advance(ms?: number): Promise<void>;
  /** Whether nothing at all would happen any more, however long one waited. */
  isOver(): boolean;
}

/**
 * Makes rxjs's time virtual for each test of a file. After each test its time goes on for an instant, so that an error that
 * rxjs reports from a timer surfaces in the test that caused it; rejections that nobody handles are jest's own to report.
 */
export function virtualPeerTime(): PeerTime {
  let clock = new MemoryClock();
  beforeEach(() => {
    clock = new MemoryClock();
    clock.install();
  });
  const advance = async (ms = 0): Promise<void> => {
    const until = clock.now + ms;
    do await promisesSettled();
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
