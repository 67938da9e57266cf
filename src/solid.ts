/**
 * Streams and calls for Solid: the value, error and status of a stream, and calls, as accessors.
 *
 * @example
 * ```ts
 * import { MuxProvider, useStream } from 'rxmux/solid';
 * ```
 *
 * @module rxmux/solid
 */
import { createComponent, createContext, createEffect, createMemo, createSignal, onCleanup, useContext } from 'solid-js';
import type { Accessor, JSX } from 'solid-js';
import type { Procedure } from './contract/procedure.js';
import type { Peer } from './peer/peer.js';
import type { OpenStream } from './peer/shared.js';
import type { PeerStatus } from './peer/status.js';
import { CallStore } from './store/call-store.js';
import type { CallActions, CallState, UseCallOptions } from './store/call-store.js';
import { checkProvider, statusStore } from './store/store.js';
import type { Store } from './store/store.js';
import type { StreamState } from './store/stream-state.js';
import { StreamStore } from './store/stream-store.js';
import type { UseStreamOptions } from './store/stream-store.js';
import type { Source } from './stream/input.js';
import { checkFunction } from './util/check.js';

export type { Accessors, MuxProviderProps, UsedCall };
export type { CallActions, CallState, FailureOf, UseCallOptions } from './store/call-store.js';
export type { StreamState, StreamStatus } from './store/stream-state.js';
export type { UseStreamOptions } from './store/stream-store.js';
export { VERSION } from './version.js';

const MuxContext = createContext<Peer>();

/** The members of a state as accessors. */
type Accessors<State> = { readonly [Name in keyof State]: Accessor<State[Name]> };

/** Calls as a component makes and shows them. */
type UsedCall<Args extends readonly unknown[], T, X extends Procedure = Procedure> = Accessors<CallState<T, X>> & CallActions<Args, T>;

/** The properties of a {@link MuxProvider}. */
interface MuxProviderProps {
  /** Made once, outside of components, or by the owner that closes it. */
  readonly peer: Peer;
  /** The components that use the peer. */
  readonly children?: JSX.Element;
}

/**
 * Passes a peer to the components below it. It never closes the peer.
 *
 * @throws TypeError for an object that is no peer, and for an unknown property
 *
 * @example
 * ```tsx
 * render(() => <MuxProvider peer={peer}><App /></MuxProvider>, root);
 * ```
 */
export function MuxProvider(props: MuxProviderProps): JSX.Element {
  checkProvider(props);
  return createComponent(MuxContext.Provider, {
    value: props.peer,
    get children() {
      return props.children;
    },
  });
}

/**
 * Returns the peer of the nearest {@link MuxProvider}.
 *
 * @throws Error without a provider
 *
 * @example
 * ```ts
 * const peer = useMux();
 * const rename = (title: string) => peer.request({ op: 'rename', title });
 * ```
 */
export function useMux(): Peer {
  const peer = useContext(MuxContext);
  if (peer === undefined) throw new Error('expected a <MuxProvider peer={…}> above this component, got none');
  return peer;
}

/**
 * Returns the status of a peer's connection. On a server it is `connecting`.
 *
 * @param peer default: the peer of the provider
 * @throws Error without a peer; TypeError for an object that is no peer
 *
 * @example
 * ```tsx
 * const status = useMuxStatus();
 * return <b>{status().state}</b>;
 * ```
 */
export function useMuxStatus(peer: Peer = useMux()): Accessor<PeerStatus> {
  const store = statusStore(peer);
  return shown(() => store);
}

/**
 * Subscribes to a stream while the component is mounted: its latest value, its error and its status as accessors. Unmounting unsubscribes,
 * which stops the producer on the server.
 *
 * The function calls `open` with `deps` as its arguments, and opens a new stream when they change. Plain objects and arrays are compared
 * by content. With a provider the stream opens again after each lost socket, and the value stays meanwhile. A server that renders opens
 * none: it renders `connecting`, with the `initialValue`.
 *
 * @param open returns an Observable: a call of a contract, or any other; a promise or an (async) iterable passes, too
 * @param deps returns what `open` uses, and reads signals and properties for that. Of a store it reads the members, as in
 *   `[{ ...filter }]`. Default: none
 *
 * @throws TypeError for an unknown option, and for deps that are no function of an array
 *
 * @example
 * ```tsx
 * function Price(props: { symbol: string }) {
 *   const { value, status } = useStream(calls.price, () => [{ symbol: props.symbol }]);
 *   return <p class={status()}>{value()?.cents ?? '…'}</p>;
 * }
 * ```
 */
export function useStream<T, Args extends readonly unknown[]>(
  open: (...args: Args) => Source<T>,
  deps: () => readonly [...Args],
  options?: UseStreamOptions<T>,
): Accessors<StreamState<T>>;
export function useStream<T>(
  open: () => Source<T>,
  deps?: () => readonly unknown[],
  options?: UseStreamOptions<T>,
): Accessors<StreamState<T>>;
export function useStream<T>(
  open: OpenStream<T>,
  deps: () => readonly unknown[] = () => [],
  options: UseStreamOptions<T> = {},
): Accessors<StreamState<T>> {
  checkFunction('useStream.deps', deps);
  const provided = useContext(MuxContext) ?? null;
  const state = shown(
    createMemo<StreamStore<T>>(
      (held) => held?.after(open, deps(), provided, options) ?? StreamStore.first(open, deps(), provided, options),
    ),
  );
  return accessorsOf(state, ['value', 'error', 'status']);
}

/**
 * Makes calls from event handlers. The accessors show the latest one: whether it is pending, its data and its error. An earlier call goes
 * on and its promise settles, but its outcome is not shown. A call goes on when its component unmounts, unless `abortOnLeave` is set.
 *
 * @param open returns an Observable or a promise: a call of a contract, or a function of yours
 * @throws TypeError for an unknown option
 *
 * @example
 * ```tsx
 * const { call, pending, data } = useCall(calls.book, { errors: api.book });
 * return <button disabled={pending()} onClick={() => call({ seat: '12A' })}>{data() ?? 'book'}</button>;
 * ```
 */
export function useCall<Args extends readonly unknown[], T, X extends Procedure = Procedure>(
  open: (...args: Args) => Source<T>,
  options: UseCallOptions<T, X> = {},
): UsedCall<Args, T, X> {
  const store = new CallStore<T, X>(options);
  const state = shown(() => store);
  if (options.abortOnLeave === true) onCleanup(store.abort);
  return {
    call: (...args) => store.make(open, args),
    abort: store.abort,
    ...accessorsOf(state, ['pending', 'data', 'error', 'failure']),
  };
}

/** Each accessor changes with its own member alone, so an effect of the value does not run for a change of the status. */
function accessorsOf<State extends object>(state: Accessor<State>, names: readonly (keyof State)[]): Accessors<State> {
  return Object.fromEntries(names.map((name) => [name, createMemo(() => state()[name])])) as Accessors<State>;
}

/** The state of a store, which an effect subscribes to: never on a server. */
function shown<State>(store: Accessor<Store<State>>): Accessor<State> {
  // `null` before the effect, so that a page hydrates as the server has rendered it.
  const [followed, follow] = createSignal<Store<State> | null>(null, { equals: false });
  createEffect(() => {
    const now = store();
    onCleanup(now.subscribe(() => follow(() => now)));
    follow(() => now);
  });
  return () => (followed() === null ? store().rendered() : store().state());
}
