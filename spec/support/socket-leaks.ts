import { intervalProvider } from 'rxjs/internal/scheduler/intervalProvider';

/** How many turns of the event loop what has been closed may take to be gone. */
const TURNS = 2_000;

/** A turn of the event loop: what is due is read, written and closed meanwhile. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves once `condition` holds, looking at each turn of the event loop; rejects when it never does. */
export async function until(what: string, condition: () => boolean, turns = 100_000): Promise<void> {
  for (let nth = 0; nth < turns; nth++) {
    if (condition()) return;
    await turn();
  }
  throw new Error(`expected ${what} within ${turns} turns`);
}

/**
 * Watches what is opened from here on; the function that it gives tells what of it is still there, once everything that is
 * closing has closed: sockets and servers by their kind, and rxjs's timers, which are all that the library has.
 */
export function watchResources(): () => Promise<Readonly<Record<string, number>>> {
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
  return async () => {
    let surplus: Readonly<Record<string, number>> = {};
    for (let nth = 0; nth < TURNS; nth++) {
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
