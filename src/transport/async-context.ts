/** Runs a task in an async context, such as an `AsyncLocalStorage` context, and returns the task's result. */
export type AsyncContext = <R>(task: () => R) => R;

/** The part of `process` that Node, Deno and Bun have. A page may have no `process`, or a stand-in. */
interface Platform {
  readonly process?: {
    getBuiltinModule?(id: string): { readonly AsyncLocalStorage?: { snapshot?(): AsyncContext } } | undefined;
  };
}

const storage = (globalThis as Platform).process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage;

/**
 * Captures the async context of the caller, to run a callback in it later. Timers, promises and `await` keep their context, but a
 * queued callback loses it. Capturing costs as much as a promise or two, so do it only where a task waits. On a platform without async
 * contexts, a task runs as it is.
 */
export function currentContext(): AsyncContext {
  return storage?.snapshot?.() ?? runPlainly;
}

/** The async context of a call, captured when something first waits for that call. */
export class LateContext {
  #run: AsyncContext | null = null;

  /** Captures the caller's context on the first call; later calls do nothing. */
  take(): void {
    this.#run ??= currentContext();
  }

  /** Runs a task in the captured context. Before the capture, the current context is the same one. */
  run(task: () => void): void {
    if (this.#run === null) task();
    else this.#run(task);
  }
}

function runPlainly<R>(task: () => R): R {
  return task();
}
