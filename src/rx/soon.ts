import { immediateProvider } from 'rxjs/internal/scheduler/immediateProvider';

/** Tasks that run together in one microtask. */
interface Batch {
  readonly tasks: (() => void)[];
  /** The clock of its microtask. After a test has ended, its clock runs nothing more. */
  readonly clock: unknown;
}

let open: Batch | null = null;

/**
 * Runs a task in a microtask, or at once on a virtual clock, in the order of the calls. `asapScheduler` does the same. But in rxjs 7.5.5
 * to 7.8.0 it stops for good when tasks schedule tasks.
 */
export function soon(task: () => void): void {
  const clock = immediateProvider.delegate;
  if (open?.clock !== clock || open === null) open = batch(clock);
  open.tasks.push(task);
}

function batch(clock: unknown): Batch {
  const made: Batch = { tasks: [], clock };
  immediateProvider.setImmediate(() => {
    if (open === made) open = null;
    for (const task of made.tasks) task();
  });
  return made;
}
