import { LazyMap } from '../wire/lazy.js';

/** Tasks that wait, by the stream they wait for, in the order in which the streams came. */
export class Waiters {
  readonly #tasks = new LazyMap<number, (() => void)[]>();

  get empty(): boolean {
    return this.#tasks.size === 0;
  }

  /** The stream that has waited longest of those that `accept` takes. */
  first(accept: (stream: number) => boolean): number | undefined {
    for (const stream of this.#tasks.keys()) if (accept(stream)) return stream;
    return undefined;
  }

  get streams(): readonly number[] {
    return [...this.#tasks.keys()];
  }

  add(stream: number, task: () => void): void {
    const tasks = this.#tasks.get(stream);
    if (tasks === undefined) this.#tasks.set(stream, [task]);
    else tasks.push(task);
  }

  /** Takes those of one stream. */
  take(stream: number): readonly (() => void)[] {
    const tasks = this.#tasks.get(stream);
    if (tasks === undefined) return NONE;
    this.#tasks.delete(stream);
    return tasks;
  }

  clear(): void {
    this.#tasks.clear();
  }
}

const NONE: readonly never[] = [];

/** Runs tasks in their order. */
export function runAll(tasks: readonly (() => void)[]): void {
  for (const task of tasks) task();
}
