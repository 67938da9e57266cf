/** How often an input was asked for a value, and how often it was told to stop. */
export interface Pulled {
  count: number;
  stopped: number;
}

/** Counts up for ever. */
export function endless(): { readonly pulled: Pulled; readonly iterator: Iterator<number> & Iterable<number> } {
  const pulled: Pulled = { count: 0, stopped: 0 };
  const iterator: Iterator<number> & Iterable<number> = {
    [Symbol.iterator]: () => iterator,
    next: () => ({ done: false, value: pulled.count++ }),
    return: () => {
      pulled.stopped++;
      return { done: true, value: undefined };
    },
  };
  return { pulled, iterator };
}
