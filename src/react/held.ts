import { useMemo, useState } from 'react';

/**
 * Holds a store for as long as its component lives.
 *
 * @param first makes the first store. A Fast Refresh drops what a component memorizes, so then it makes another one: the code may be another
 * @param after returns the store of this render, from the one before
 */
export function useHeld<S>(first: () => S, after: (held: S) => S): S {
  const version = useMemo(() => ({}), []);
  const [held, hold] = useState(() => ({ store: first(), version }));
  const store = held.version === version ? after(held.store) : first();
  if (store !== held.store) hold({ store, version });
  return store;
}
