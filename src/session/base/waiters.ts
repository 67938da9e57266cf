import { LazyMap } from '../../wire/lazy.js';

/** Tasks that wait, by the stream they wait for, in the order in which the streams came. */
export class Waiters extends LazyMap<number, (() => void)[]> {
  /** The stream that has waited longest of those that `accept` takes. */
  first(accept: (stream: number) => boolean): number | undefined {
    for (const stream of this.keys()) if (accept(stream)) return stream;
    return undefined;
  }

  add(stream: number, task: () => void): void {
    const tasks = this.get(stream);
    if (tasks === undefined) this.set(stream, [task]);
    else tasks.push(task);
  }

  /** Takes those of one stream. */
  take(stream: number): readonly (() => void)[] {
    const tasks = this.get(stream) ?? [];
    this.delete(stream);
    return tasks;
  }

  /** Runs those of one stream; `false` where there are none. */
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
