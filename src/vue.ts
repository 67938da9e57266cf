/**
 * Composables for Vue: the value, error and status of a stream, and calls, as refs.
 *
 * @example
 * ```ts
 * import { MUX, useStream } from 'rxmux/vue';
 * ```
 *
 * @module rxmux/vue
 */
import { computed, getCurrentInstance, getCurrentScope, hasInjectionContext, inject } from 'vue';
import { onMounted, onScopeDispose, shallowRef, toValue, watch } from 'vue';
import type { ComputedRef, InjectionKey, MaybeRefOrGetter, ShallowRef } from 'vue';
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

export type { Refs, UsedCall };
export type { CallActions, CallState, FailureOf, UseCallOptions } from './store/call-store.js';
export type { StreamState, StreamStatus } from './store/stream-state.js';
export type { UseStreamOptions } from './store/stream-store.js';
export { VERSION } from './version.js';

/**
 * The key of the peer. An application provides the peer, and a component may provide another one to the components below it.
 *
 * @example
 * ```ts
 * createApp(App).provide(MUX, connect('wss://example.org/mux', { lazy: true, reconnect: true })).mount('#app');
 * ```
 */
export const MUX: InjectionKey<Peer> = Symbol('rxmux');

/** The members of a state as refs, so that `const { value, status } = useStream(…)` keeps them reactive. */
type Refs<State> = { readonly [Name in keyof State]: ComputedRef<State[Name]> };

/** Calls as a component makes and shows them. */
type UsedCall<Args extends readonly unknown[], T, X extends Procedure = Procedure> = Refs<CallState<T, X>> & CallActions<Args, T>;

/**
 * Returns the provided peer.
 *
 * @throws Error without a provided peer
 *
 * @example
 * ```ts
 * const peer = useMux();
 * const rename = (title: string) => peer.request({ op: 'rename', title });
 * ```
 */
export function useMux(): Peer {
  const peer = providedPeer();
  if (peer === null) throw new Error('expected a peer, got none: write app.provide(MUX, peer)');
  return peer;
}

function providedPeer(): Peer | null {
  const peer = hasInjectionContext() ? inject(MUX, null) : null;
  if (peer !== null) checkPeer('MUX', peer, 'status$');
  return peer;
}

/**
 * Returns the status of a peer's connection. It is `connecting` until the component has mounted, also on a server.
 *
 * @param peer default: the provided peer
 * @throws Error without a peer; TypeError for an object that is no peer
 *
 * @example
 * ```ts
 * const status = useMuxStatus();   // {{ status.state }}
 * ```
 */
export function useMuxStatus(peer: Peer = useMux()): ComputedRef<PeerStatus> {
  const store = statusStore(peer);
  return shown('useMuxStatus', () => store);
}

/**
 * Subscribes to a stream while the component is mounted: its latest value, its error and its status as refs. Unmounting unsubscribes,
 * which stops the producer on the server.
 *
 * The composable calls `open` with `deps` as its arguments, and opens a new stream when they change. Plain objects and arrays are compared
 * by content. With a provided peer the stream opens again after each lost socket, and the value stays meanwhile. A server that renders
 * opens none: it renders `connecting`, with the `initialValue`.
 *
 * @param open returns an Observable: a call of a contract, or any other; a promise or an (async) iterable passes, too
 * @param deps what `open` uses: an array, a ref or a getter. A ref gets another array. A getter reads the members that it uses: of a
 *   `reactive` object as in `[{ ...filter }]`. Default: none
 *
 * @throws Error outside of `setup` and of an effect scope; TypeError for an unknown option, and for deps that are no array
 *
 * @example
 * ```ts
 * const props = defineProps<{ symbol: string }>();
 * const { value, error, status } = useStream(calls.price, () => [{ symbol: props.symbol }]);
 * ```
 */
export function useStream<T, Args extends readonly unknown[]>(
  open: (...args: Args) => Source<T>,
  deps: MaybeRefOrGetter<readonly [...Args]>,
  options?: UseStreamOptions<T>,
): Refs<StreamState<T>>;
export function useStream<T>(
  open: () => Source<T>,
  deps?: MaybeRefOrGetter<readonly unknown[]>,
  options?: UseStreamOptions<T>,
): Refs<StreamState<T>>;
export function useStream<T>(
  open: OpenStream<T>,
  deps: MaybeRefOrGetter<readonly unknown[]> = [],
  options: UseStreamOptions<T> = {},
): Refs<StreamState<T>> {
  const provided = providedPeer();
  const store = shallowRef(StreamStore.first(open, toValue(deps), provided, options));
  watch(
    () => toValue(deps),
    (now) => (store.value = store.value.after(open, now, provided, options)),
  );
  return refsOf(
    shown('useStream', () => store.value),
    ['value', 'error', 'status'],
  );
}

/**
 * Makes calls from event handlers. The refs show the latest one: whether it is pending, its data and its error. An earlier call goes on
 * and its promise settles, but its outcome is not shown. A call goes on when its component unmounts, unless `abortOnLeave` is set.
 *
 * @param open returns an Observable or a promise: a call of a contract, or a function of yours
 * @throws TypeError for an unknown option
 *
 * @example
 * ```ts
 * const { call, pending, data, failure, abort } = useCall(calls.book, { errors: api.book });
 * const takenBy = computed(() => (failure.value?.name === 'TAKEN' ? failure.value.data.by : null));
 * ```
 */
export function useCall<Args extends readonly unknown[], T, X extends Procedure = Procedure>(
  open: (...args: Args) => Source<T>,
  options: UseCallOptions<T, X> = {},
): UsedCall<Args, T, X> {
  const store = new CallStore<T, X>(options);
  const refs = refsOf(
    shown('useCall', () => store),
    ['pending', 'data', 'error', 'failure'],
  );
  if (options.abortOnLeave === true) onScopeDispose(store.abort);
  return { ...refs, call: (...args) => store.make(open, args), abort: store.abort };
}

function refsOf<State extends object>(state: ComputedRef<State>, names: readonly (keyof State)[]): Refs<State> {
  return Object.fromEntries(names.map((name) => [name, computed(() => state.value[name])])) as Refs<State>;
}

/** The state of a store, while the component is mounted and so never on a server. Outside of a component: while the scope is active. */
function shown<State>(name: string, store: () => Store<State>): ComputedRef<State> {
  const scope = getCurrentScope();
  if (scope === undefined) throw new Error(`${name}: expected a call within setup or an effect scope, at whose end the stream ends`);
  const state: ShallowRef<State> = shallowRef(store().rendered());
  const follow = (followed: Store<State>, _: unknown, onCleanup: (end: () => void) => void): void => {
    const show = (): void => void (state.value = followed.state());
    onCleanup(followed.subscribe(show));
    show();
  };
  const begin = (): unknown => scope.run(() => watch(store, follow, { immediate: true, flush: 'sync' }));
  // Within `onMounted` a component has mounted already, and calls no further hook of that name.
  if (getCurrentInstance()?.isMounted === false) onMounted(begin);
  else begin();
  return computed(() => state.value);
}
