/** Runs a task in an async context, such as an `AsyncLocalStorage` context, and returns the task's result. */
export type AsyncContext = <R>(task: () => R) => R;

/** Captures the async context in which it is made. */
interface Resource {
  runInAsyncScope: AsyncContext;
}

/** The part of `process` that Node, Deno and Bun have. A page may have no `process`, or a stand-in. */
interface Platform {
  readonly process?: {
    getBuiltinModule?(id: string): { readonly AsyncResource?: new (type: string) => Resource } | undefined;
  };
}

const AsyncResource = (globalThis as Platform).process?.getBuiltinModule?.('node:async_hooks')?.AsyncResource;

/** The async context of a call, captured when something first waits for that call. */
export class LateContext {
  #resource: Resource | undefined;

  /** Captures the caller's context on the first call; later calls do nothing. */
  take(): void {
    // `AsyncLocalStorage.snapshot()` does the same, and takes seventy times as long on Node 20.
    this.#resource ??= AsyncResource && new AsyncResource('rxmux');
  }

  /** Runs a task in the captured context. Before the capture, the current context is the same one. */
  run<R>(task: () => R): R {
    return this.#resource ? this.#resource.runInAsyncScope(task) : task();
  }
}

/**
 * Captures the async context of the caller, to run a callback in it later. Timers, promises and `await` keep their context, but a
 * queued callback loses it. On a platform without async contexts, a task runs as it is.
 */
export function currentContext(): AsyncContext {
  const context = new LateContext();
  context.take();
  return (task) => context.run(task);
}
