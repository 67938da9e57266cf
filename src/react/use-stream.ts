import { useState, useSyncExternalStore } from 'react';
import type { ObservableInput } from 'rxjs';
import type { Peer } from '../peer/peer.js';
import { checkOptions } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import { useOptionalMux } from './mux.js';
import { CONNECTING } from './stream-state.js';
import type { StreamState } from './stream-state.js';
import { StreamStore } from './stream-store.js';

/** How {@link useStream} reads a stream. */
export interface UseStreamOptions {
  /**
   * The peer whose next socket opens the stream again. Default: the peer of the nearest `MuxProvider`, if there is one. `null` keeps a
   * stream of another source, such as a timer, from starting again when the peer reconnects.
   */
  readonly peer?: Peer | null | undefined;
  /** Whether new deps keep the value of the previous stream until the new one has a value. Default `false`. */
  readonly keepValue?: boolean | undefined;
}

/** Names {@link UseStreamOptions}. */
const OPTIONS: NamesOf<UseStreamOptions> = { peer: true, keepValue: true };

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
 * StrictMode opens one stream. A server that renders opens none: it renders `connecting`.
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
 * ```
 */
export function useStream<T>(open: () => ObservableInput<T>, deps?: readonly unknown[], options?: UseStreamOptions): StreamState<T>;
export function useStream<T, Args extends readonly unknown[]>(
  open: (...args: Args) => ObservableInput<T>,
  deps: readonly [...Args],
  options?: UseStreamOptions,
): StreamState<T>;
export function useStream<T>(
  open: (...args: readonly unknown[]) => ObservableInput<T>,
  deps: readonly unknown[] = [],
  options: UseStreamOptions = {},
): StreamState<T> {
  checkOptions(options, OPTIONS);
  const { peer, keepValue = false } = options;
  const provided = useOptionalMux();
  const reopening = peer === undefined ? provided : peer;
  const [held, hold] = useState(() => new StreamStore(open, deps, reopening));
  let store = held;
  if (!held.isOf(deps, reopening)) {
    store = held.replaced(deps, reopening, open, keepValue ? held.state().value : undefined);
    hold(store);
  }
  return useSyncExternalStore(store.subscribe, store.state, () => CONNECTING);
}
