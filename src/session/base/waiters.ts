import { LazyMap } from '../../wire/lazy.js';

/** Waiting tasks by stream, in the order in which the streams came. */
export class Waiters extends LazyMap<number, (() => void)[]> {
  /** Returns the accepted stream that has waited longest. */
  first(accept: (stream: number) => boolean): number | undefined {
    for (const stream of this.keys()) if (accept(stream)) return stream;
    return undefined;
  }

  add(stream: number, task: () => void): void {
    const tasks = this.get(stream);
    if (tasks === undefined) this.set(stream, [task]);
    else tasks.push(task);
  }

  /** Removes and returns the tasks of one stream. */
  take(stream: number): readonly (() => void)[] {
    const tasks = this.get(stream) ?? [];
    this.delete(stream);
    return tasks;
  }

  /** Runs and removes the tasks of one stream; returns `false` if it has none. */
  run(stream: number): boolean {
    if (this.get(stream) === undefined) return false;
    runAll(this.take(stream));
    return true;
  }
}

/** Runs tasks in their order. */
export function runAll(tasks: readonly (() => void)[]): void {
  for (const task of tasks) task();
}
