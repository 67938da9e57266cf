import { MemoryClock, promisesSettled } from './memory-clock.js';
import { checkNumber } from '../wire/check.js';

/** Time in the hands of a test. */
export interface VirtualTime {
  /** Ms since `virtualTime()`. */
  readonly now: number;
  /**
   * Goes on by `ms`, and runs what is due on the way, in order; promises settle before the first step and after each.
   * Without `ms` only what is due now is run. Rejects with what a task threw.
   */
  advance(ms?: number): Promise<void>;
  /** Gives rxjs its real clocks back, and forgets what was still to come. Safe to call twice. */
  restore(): void;
}

/**
 * Makes the time of rxjs, and so of this library, virtual, for tests with promises in them: `TestScheduler.run` cannot wait
 * for one. Nothing real is waited for, so a test of half an hour takes milliseconds.
 *
 * Timers that are not rxjs's (`setTimeout`, `AbortSignal.timeout`), animation frames and real sockets keep their real time.
 *
 * @throws Error where time is virtual already: `restore()` the other first
 *
 * @example
 * ```ts
 * const time = virtualTime();
 * const { dialer, acceptor } = createPair({ latencyMs: 400 });
 * acceptor.onStream((name, stream) => stream.reply(`hello ${name}`));
 * const answer = dialer.request('you');
 * await time.advance(1_000);
 * await answer;   // 'hello you'
 * time.now;       // 1000
 * time.restore();
 * ```
 */
export function virtualTime(): VirtualTime {
  const clock = new MemoryClock();
  clock.install();
  return {
    get now() {
      return clock.now;
    },
    async advance(ms = 0) {
      checkNumber('ms', ms);
      const until = clock.now + ms;
      do await promisesSettled();
      while (clock.step(until));
    },
    restore() {
      clock.uninstall();
    },
  };
}
