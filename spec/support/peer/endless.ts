/** How often a reader called `next` of an input, and how often it called `return`. */
export interface Pulled {
  count: number;
  stopped: number;
}

/** Returns an iterator that counts up for ever. */
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
