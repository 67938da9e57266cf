import { setImmediate } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';
import { intervalProvider } from 'rxjs/internal/scheduler/intervalProvider';

/** How many turns of the event loop a closed resource may take to disappear. */
const TURNS = 2_000;
/** How long a closed resource may take on a busy machine, where idle turns are short. */
const PATIENCE_MS = 30_000;

/** Waits for a turn of the event loop, in which Node reads, writes and closes whatever is due. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Checks `condition` at each turn, and after {@link TURNS} of them at each millisecond: another process, or a timer, then gets the core.
 * Resolves once it holds. Rejects after the given checks and half a minute, and says then what it expected.
 */
export async function until(what: string | (() => string), condition: () => boolean, turns = 10_000): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  for (let nth = 0; nth < turns || performance.now() < end; nth++) {
    if (condition()) return;
    await (nth < TURNS ? turn() : pause(1));
  }
  throw new Error(`expected ${typeof what === 'string' ? what : what()} within ${turns} turns`);
}

/**
 * Watches all resources opened from here on. The returned function waits until closing resources have closed, then counts the
 * rest: sockets and servers by kind, and rxjs's timers, the only timers of the library.
 * Use a patience of 0 where the test expects leftovers: it waits for turns only.
 */
export function watchResources(): (patienceMs?: number) => Promise<Readonly<Record<string, number>>> {
  const before = handles();
  const timers = new Set<unknown>();
  intervalProvider.delegate = {
    setInterval: (run, ms) => {
      const timer = globalThis.setInterval(run, ms);
      timers.add(timer);
      return timer;
    },
    clearInterval: (timer) => {
      timers.delete(timer);
      globalThis.clearInterval(timer);
    },
  };
  return async (patienceMs = PATIENCE_MS) => {
    const end = performance.now() + patienceMs;
    let surplus: Readonly<Record<string, number>> = {};
    for (let nth = 0; nth < TURNS || performance.now() < end; nth++) {
      const now = { ...handles(), timers: timers.size };
      surplus = Object.fromEntries(
        Object.entries(now)
          .map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const)
          .filter(([, more]) => more > 0),
      );
      if (Object.keys(surplus).length === 0) break;
      await turn();
    }
    intervalProvider.delegate = undefined;
    return surplus;
  };
}

/** Counts the handles that keep the process alive, without timers, which may be the test runner's. */
function handles(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo())
    if (!['Immediate', 'Timeout', 'TickObject'].includes(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
