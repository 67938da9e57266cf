import { LazyMap } from '../../util/collections.js';

/** Waiting tasks by stream, in the order in which the streams came. */
export class Waiters extends LazyMap<number, (() => void)[]> {
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

  /** Runs and removes the tasks of one stream. */
  run(stream: number): void {
    runAll(this.take(stream));
  }
}

/** Runs tasks in their order. */
export function runAll(tasks: readonly (() => void)[]): void {
  for (const task of tasks) task();
}
