import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import { intervalProvider } from 'rxjs/internal/scheduler/intervalProvider';
import { timeoutProvider } from 'rxjs/internal/scheduler/timeoutProvider';
import { MemoryClock } from '../../../src/testing/memory-clock.js';
import type { PeerTime } from '../peer/time.js';
import { turn } from '../socket/leaks.js';

const running = new AsyncLocalStorage<Machine>();

/** A computer: what is run on it has its timers late where the machine is slow or asleep. The others' go on. */
export class Machine {
  #tickMs = 0;
  #wakesAt = -Infinity;

  /** Whatever `task` starts belongs to this machine. */
  run<T>(task: () => T): T {
    return running.run(this, task);
  }

  /** From now on timers fire only when a multiple of `ms` is reached, as those of a page in the background. */
  throttle(ms: number): void {
    this.#tickMs = ms;
  }

  /** Nothing of this machine runs for so long; what is due meanwhile is late. */
  sleep(ms: number): void {
    this.#wakesAt = asyncScheduler.now() + ms;
  }

  /** How long what is due now has to wait, in ms. */
  get latenessMs(): number {
    const now = asyncScheduler.now();
    const tick = this.#tickMs === 0 ? now : Math.ceil(now / this.#tickMs) * this.#tickMs;
    return Math.max(tick, this.#wakesAt) - now;
  }
}

/** Runs `task` on no machine: the network's part, which is never late. */
export function offMachines<T>(task: () => T): T {
  return running.exit(task);
}

/** A timer of the network's, which no machine delays; gives what takes it back. */
export function networkTimer(ms: number, task: () => void): () => void {
  const handle = timeoutProvider.setTimeout(task, ms);
  return () => {
    timeoutProvider.clearTimeout(handle);
  };
}

/**
 * Virtual time as `virtualPeerTime` makes it, under machines whose timers may be late. The scenarios here have a hundred
 * thousand steps, so promises are given their turn in the cheapest way that Node has.
 */
export function machineTime(): PeerTime {
  let clock = new MemoryClock();
  beforeEach(() => {
    clock = new MemoryClock();
    clock.install();
    delayTimers();
  });
  const advance = async (ms = 0): Promise<void> => {
    const until = clock.now + ms;
    do await turn();
    while (clock.step(until));
  };
  afterEach(async () => {
    try {
      await advance();
    } finally {
      clock.uninstall();
      running.disable();
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

/** Puts the machines between rxjs and the clock that it has. */
function delayTimers(): void {
  const punctual = intervalProvider.delegate;
  if (punctual === undefined) throw new Error('expected virtual time');
  type Handle = ReturnType<typeof punctual.setInterval>;
  const armed = new Map<unknown, Handle>();
  intervalProvider.delegate = {
    setInterval(run, ms = 0) {
      const machine = running.getStore();
      if (machine === undefined) return punctual.setInterval(run, ms);
      const arm = (wait: number): Handle => {
        const handle = punctual.setInterval(() => {
          punctual.clearInterval(handle);
          const late = machine.latenessMs;
          armed.set(first, arm(late > 0 ? late : ms));
          if (late === 0) machine.run(run);
        }, wait);
        return handle;
      };
      const first = arm(ms);
      armed.set(first, first);
      return first;
    },
    clearInterval(handle) {
      punctual.clearInterval(armed.get(handle) ?? handle);
      armed.delete(handle);
    },
  };
}
