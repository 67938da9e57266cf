import { intervalProvider } from 'rxjs/internal/scheduler/intervalProvider';

/** How many turns of the event loop what has been closed may take to be gone. */
const TURNS = 2_000;
/** And how long something may take on a machine that is busy with something else: turns in which nothing comes are short. */
const PATIENCE_MS = 3_000;

/** A turn of the event loop: what is due is read, written and closed meanwhile. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves once `condition` holds, looking at each turn of the event loop; rejects when it does not for so many turns, and some seconds. */
export async function until(what: string, condition: () => boolean, turns = 100_000): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  for (let nth = 0; nth < turns || performance.now() < end; nth++) {
    if (condition()) return;
    await turn();
  }
  throw new Error(`expected ${what} within ${turns} turns`);
}

/**
 * Watches what is opened from here on; the function that it gives tells what of it is still there, once everything that is
 * closing has closed: sockets and servers by their kind, and rxjs's timers, which are all that the library has. With 0 for its
 * patience it expects something to be there still, and waits for turns only.
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

/** What keeps the process alive but the timers, which may be the test runner's. */
function handles(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo())
    if (!['Immediate', 'Timeout', 'TickObject'].includes(kind)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
