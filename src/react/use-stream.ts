import { useSyncExternalStore } from 'react';
import type { StreamState } from '../store/stream-state.js';
import { StreamStore } from '../store/stream-store.js';
import type { UseStreamOptions } from '../store/stream-store.js';
import type { Source } from '../stream/input.js';
import { useHeld } from './held.js';
import { useOptionalMux } from './mux.js';

/**
 * Subscribes to a stream while the component is mounted, and renders its latest value, its error and its status. Unmounting unsubscribes,
 * which stops the producer on the server.
 *
 * The hook calls `open` with `deps` as its arguments, and opens a new stream when they change. Plain objects and arrays are compared by
 * content, functions and other objects by identity. `open` itself may be another function at each render.
 *
 * With a peer the stream opens again after each lost socket, and the value stays meanwhile. A server that refuses calls for a moment after
 * its restart ends the stream, unless the call has `retry: 'safe'`. An ended stream opens again when `deps` change.
 *
 * StrictMode opens one stream. Fast Refresh opens it anew in an edited component, as it runs effects again. A server that renders opens
 * none: it renders `connecting`, with the `initialValue`.
 *
 * @param open returns an Observable: `peer.open$`, a call of a contract, or any other; a promise or an (async) iterable passes, too
 * @param deps what `open` uses. A function without parameters may read them from its scope, as an effect does. Default: none
 *
 * @throws TypeError for an unknown option, and for deps that are no array, or that differ each time that one render makes them. A Map, a
 *   class instance or a function needs `useMemo`.
 *
 * @example
 * ```tsx
 * function Price({ symbol }: { symbol: string }) {
 *   const { value, error, status } = useStream(calls.price, [{ symbol }]);            // a call of a contract
 *   if (status === 'error') return <p>{String(error)}</p>;
 *   return <p className={status}>{value?.cents ?? '…'}</p>;                           // the last price, also while it reconnects
 * }
 *
 * const ticks = useStream((op: string) => peer.open$<number>({ op }, { retry: 'safe' }), ['ticks']);
 * const seconds = useStream(() => interval(1_000), [], { peer: null });               // any Observable
 * const shown = useStream(calls.price, [{ symbol: 'ACME' }], { shared: true });        // one stream for all such components
 * ```
 */
export function useStream<T>(open: () => Source<T>, deps?: readonly unknown[], options?: UseStreamOptions<T>): StreamState<T>;
export function useStream<T, Args extends readonly unknown[]>(
  open: (...args: Args) => Source<T>,
  deps: readonly [...Args],
  options?: UseStreamOptions<T>,
): StreamState<T>;
export function useStream<T>(
  open: (...args: readonly unknown[]) => Source<T>,
  deps: readonly unknown[] = [],
  options: UseStreamOptions<T> = {},
): StreamState<T> {
  const provided = useOptionalMux();
  const store = useHeld(
    () => StreamStore.first(open, deps, provided, options),
    (held) => held.after(open, deps, provided, options),
  );
  return useSyncExternalStore(store.subscribe, store.state, store.rendered);
}
