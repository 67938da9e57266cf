const NONE: readonly never[] = [];

/**
 * Callbacks of one kind, or subscribers, in the order of their registration. The same function may be registered several times.
 *
 * In place of a Subject: the caller decides what an error of one callback does to the others. A change during an iteration affects only
 * later iterations, as with a Subject.
 */
export class HookList<F> {
  /** The current hooks. Each change makes a new array. */
  entries: readonly { readonly hook: F }[] = NONE;

  /** Returns a function that removes the hook. It is safe to call it twice. */
  add(hook: F): () => void {
    const entry = { hook };
    // A spread would make an array with room for 16 more.
    this.entries = this.entries.concat(entry);
    return () => {
      this.entries = this.entries.filter((other) => other !== entry);
    };
  }
}
