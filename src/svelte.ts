/**
 * Streams and calls for Svelte 5: objects whose members are reactive where a template, an effect or a `$derived` reads them.
 *
 * @example
 * ```ts
 * import { setMux, useStream } from 'rxmux/svelte';
 * ```
 *
 * @module rxmux/svelte
 */
import { getContext, onDestroy, setContext } from 'svelte';
import { createSubscriber } from 'svelte/reactivity';
import type { Procedure } from './contract/procedure.js';
import { checkPeer } from './peer/options.js';
import type { Peer } from './peer/peer.js';
import type { OpenStream } from './peer/shared.js';
import type { PeerStatus } from './peer/status.js';
import { CallStore } from './store/call-store.js';
import type { CallActions, CallState, UseCallOptions } from './store/call-store.js';
import { statusStore } from './store/store.js';
import type { Store } from './store/store.js';
import type { StreamState } from './store/stream-state.js';
import { StreamStore } from './store/stream-store.js';
import type { UseStreamOptions } from './store/stream-store.js';
import type { Source } from './stream/input.js';
import { checkFunction } from './util/check.js';

export type { UsedCall };
export type { CallActions, CallState, FailureOf, UseCallOptions } from './store/call-store.js';
export type { StreamState, StreamStatus } from './store/stream-state.js';
export type { UseStreamOptions } from './store/stream-store.js';
export { VERSION } from './version.js';

const KEY = Symbol.for('rxmux');

/** Calls as a component makes and shows them. Read the members of the state where they are shown. */
type UsedCall<Args extends readonly unknown[], T, X extends Procedure = Procedure> = CallState<T, X> & CallActions<Args, T>;

/**
 * Passes a peer to this component and the components below it. It never closes the peer. Call it while the component initializes.
 *
 * @throws TypeError for an object that is no peer
 *
 * @example
 * ```ts
 * setMux(connect('wss://example.org/mux', { lazy: true, reconnect: true }));
 * ```
 */
export function setMux(peer: Peer): void {
  checkPeer('setMux', peer, 'status$');
  setContext(KEY, peer);
}

/**
 * Returns the peer of {@link setMux}. Call it while the component initializes.
 *
 * @throws Error where no component above has set a peer
 *
 * @example
 * ```ts
 * const peer = useMux();
 * const rename = (title: string) => peer.request({ op: 'rename', title });
 * ```
 */
export function useMux(): Peer {
  const peer = providedPeer();
  if (peer === null) throw new Error('expected a peer, got none: call setMux(peer) in a component above');
  return peer;
}

/**
 * Returns the status of a peer's connection. On a server it is `connecting` for a lazy peer, which dials nothing there.
 *
 * @param peer default: the peer of {@link setMux}
 * @throws Error without a peer; TypeError for an object that is no peer
 *
 * @example
 * ```ts
 * const status = useMuxStatus();   // {status.current.state}
 * ```
 */
export function useMuxStatus(peer: Peer = useMux()): { readonly current: PeerStatus } {
  const { subscribe, state } = statusStore(peer);
  const store = { subscribe, state: () => ({ current: state() }) };
  return membersOf(() => store, ['current']);
}

/**
 * Reads a stream: its latest value, its error and its status. The stream is subscribed as long as a template or an effect reads a
 * member. So it ends with the component, which stops the producer on the server. Read the members where they are shown.
 *
 * The function calls `open` with `deps` as its arguments, and opens a new stream when they change. Plain objects and arrays are compared
 * by content. With a peer of {@link setMux} the stream opens again after each lost socket, and the value stays meanwhile. A server that
 * renders opens none: it renders `connecting`, with the `initialValue`.
 *
 * @param open returns an Observable: a call of a contract, or any other; a promise or an (async) iterable passes, too
 * @param deps returns what `open` uses, and reads runes for that. Of a `$state` object it reads the members, as in `[{ ...filter }]`.
 *   Default: none
 *
 * @throws TypeError for an unknown option, and for deps that are no function of an array
 *
 * @example
 * ```ts
 * const { symbol } = $props();
 * const price = useStream(calls.price, () => [{ symbol }]);   // {price.value?.cents} {price.status}
 * ```
 */
export function useStream<T, Args extends readonly unknown[]>(
  open: (...args: Args) => Source<T>,
  deps: () => readonly [...Args],
  options?: UseStreamOptions<T>,
): StreamState<T>;
export function useStream<T>(open: () => Source<T>, deps?: () => readonly unknown[], options?: UseStreamOptions<T>): StreamState<T>;
export function useStream<T>(
  open: OpenStream<T>,
  deps: () => readonly unknown[] = () => [],
  options: UseStreamOptions<T> = {},
): StreamState<T> {
  checkFunction('useStream.deps', deps);
  const provided = providedPeer();
  let store = StreamStore.first(open, deps(), provided, options);
  return membersOf(() => (store = store.after(open, deps(), provided, options)), ['value', 'error', 'status']);
}

/**
 * Makes calls from event handlers. The members show the latest one: whether it is pending, its data and its error. An earlier call goes on
 * and its promise settles, but its outcome is not shown. A call goes on when its component is destroyed, unless `abortOnLeave` is set.
 *
 * @param open returns an Observable or a promise: a call of a contract, or a function of yours
 * @throws TypeError for an unknown option
 *
 * @example
 * ```ts
 * const book = useCall(calls.book, { errors: api.book });   // <button disabled={book.pending} onclick={() => book.call({ seat })}>
 * const takenBy = $derived(book.failure?.name === 'TAKEN' ? book.failure.data.by : null);
 * ```
 */
export function useCall<Args extends readonly unknown[], T, X extends Procedure = Procedure>(
  open: (...args: Args) => Source<T>,
  options: UseCallOptions<T, X> = {},
): UsedCall<Args, T, X> {
  const store = new CallStore<T, X>(options);
  if (options.abortOnLeave === true) onDestroy(store.abort);
  const shown = membersOf(() => store, ['pending', 'data', 'error', 'failure']);
  return Object.assign(shown, { call: (...args: Args) => store.make(open, args), abort: store.abort });
}

/** The peer of the components above. A module outside of components has none. */
function providedPeer(): Peer | null {
  try {
    return getContext<Peer | undefined>(KEY) ?? null;
  } catch {
    return null;
  }
}

/** A store whose state Svelte tracks. */
type Followed<State> = Pick<Store<State>, 'subscribe' | 'state'>;

/**
 * The members of a store's state. A read subscribes to the store where Svelte tracks it, for changes of its own member: an effect of the
 * value does not run for a change of the status.
 */
function membersOf<State extends object>(storeOf: () => Followed<State>, names: readonly (keyof State)[]): State {
  const shown = {} as State;
  for (const name of names) {
    let followed: Followed<State> | undefined;
    let track: () => void;
    const get = (): unknown => {
      const store = storeOf();
      if (store !== followed) {
        followed = store;
        track = createSubscriber((update) => {
          let last = store.state()[name];
          let close: (() => void) | null = null;
          return (close = store.subscribe(() => {
            const before = last;
            last = store.state()[name];
            // A read that subscribes sees the changes of the subscription itself, and Svelte allows no update within it.
            if (close !== null && last !== before) update();
          }));
        });
      }
      track();
      return store.state()[name];
    };
    Object.defineProperty(shown, name, { get, enumerable: true });
  }
  return shown;
}
