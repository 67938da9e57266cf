/** Runs a task in an async context, such as that of `AsyncLocalStorage`, and returns what the task returns. */
export type AsyncContext = <R>(task: () => R) => R;

/** What Node, Deno and Bun have of `process`; a page may have none, or a stand-in. */
interface Platform {
  readonly process?: {
    getBuiltinModule?(id: string): { readonly AsyncLocalStorage?: { snapshot?(): AsyncContext } } | undefined;
  };
}

const storage = (globalThis as Platform).process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage;

/**
 * The async context of the caller, for what runs later. Timers, promises and `await` keep theirs, a callback that waits in a queue does
 * not. It costs as much as a promise or two, so take it where something waits. Where a platform has none, a task runs as it is.
 */
export function currentContext(): AsyncContext {
  return storage?.snapshot?.() ?? runPlainly;
}

/** The async context of a call, taken when something first waits for it. */
export class LateContext {
  #run: AsyncContext | null = null;

  /** Takes the context of the caller, unless there is one. */
  take(): void {
    this.#run ??= currentContext();
  }

  /** Runs a task in the context that was taken. Before that, the caller's is the same. */
  run(task: () => void): void {
    if (this.#run === null) task();
    else this.#run(task);
  }
}

function runPlainly<R>(task: () => R): R {
  return task();
}
