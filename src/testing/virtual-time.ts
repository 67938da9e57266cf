import { throughChannel } from '../transport/w3c.js';
import { MemoryClock } from './memory-clock.js';
import { checkNumber, optionError } from '../util/check.js';

/** Time that a test controls. */
export interface VirtualTime {
  /** Ms since `virtualTime()`. */
  readonly now: number;
  /**
   * Advances the time by `ms`, and runs the tasks that become due, in order. Promises settle before the first step and after each step.
   * Without `ms` only the tasks that are due now run. Rejects with the error that a task throws.
   */
  advance(ms?: number): Promise<void>;
  /** Restores the real clocks of rxjs, and drops the remaining tasks. It is safe to call it twice. */
  restore(): void;
}

/**
 * Makes the time of rxjs virtual, and so the time of this library. It is for tests with promises in them, since `TestScheduler.run`
 * cannot wait for a promise. It never waits in real time, so a test of half an hour takes milliseconds.
 *
 * Other timers than rxjs's (`setTimeout`, `AbortSignal.timeout`), animation frames and real sockets keep their real time.
 *
 * @throws Error if time is virtual already: `restore()` the other one first
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
      if (checkNumber('ms', ms) === Infinity) throw optionError('ms', 'a finite number', ms);
      const until = clock.now + ms;
      do await promisesSettled();
      while (clock.step(until));
    },
    restore() {
      clock.uninstall();
    },
  };
}

/** Resolves when every promise that can settle has settled, and its callbacks have run. That takes one turn and no waiting. */
export function promisesSettled(): Promise<void> {
  return new Promise(throughChannel);
}
