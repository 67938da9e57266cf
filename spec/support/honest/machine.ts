import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach } from '@jest/globals';
import { asyncScheduler } from 'rxjs';
import { intervalProvider } from 'rxjs/internal/scheduler/intervalProvider';
import { timeoutProvider } from 'rxjs/internal/scheduler/timeoutProvider';
import { virtualPeerTime } from '../peer/time.js';
import type { PeerTime } from '../peer/time.js';
import { turn } from '../socket/leaks.js';

const running = new AsyncLocalStorage<Machine>();

/** A computer. Code run on it gets late timers while the machine is slow or asleep. Timers of other machines stay punctual. */
export class Machine {
  #tickMs = 0;
  #wakesAt = -Infinity;

  /** Runs `task`. The timers that `task` starts belong to this machine. */
  run<T>(task: () => T): T {
    return running.run(this, task);
  }

  /** From now on timers fire only at multiples of `ms`, as in a background page. */
  throttle(ms: number): void {
    this.#tickMs = ms;
  }

  /** Runs nothing on this machine for `ms`. Timers due meanwhile fire late. */
  sleep(ms: number): void {
    this.#wakesAt = asyncScheduler.now() + ms;
  }

  /** How long a timer that is due now has to wait, in ms. */
  get latenessMs(): number {
    const now = asyncScheduler.now();
    const tick = this.#tickMs === 0 ? now : Math.ceil(now / this.#tickMs) * this.#tickMs;
    return Math.max(tick, this.#wakesAt) - now;
  }
}

/** Runs `task` on no machine. The network uses this, because it is never late. */
export function offMachines<T>(task: () => T): T {
  return running.exit(task);
}

/** Starts a timer of the network, which no machine delays. Returns a cancel function. */
export function networkTimer(ms: number, task: () => void): () => void {
  const handle = timeoutProvider.setTimeout(task, ms);
  return () => {
    timeoutProvider.clearTimeout(handle);
  };
}

/**
 * Virtual time like `virtualPeerTime`, but with machines whose timers may be late. The scenarios have a hundred
 * thousand steps, so this yields to promises in the cheapest way that Node has.
 */
export function machineTime(): PeerTime {
  const time = virtualPeerTime(turn);
  beforeEach(delayTimers);
  afterEach(() => {
    running.disable();
  });
  return time;
}

/** Puts the machines between rxjs and its clock. */
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
