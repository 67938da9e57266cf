import { defer, from, share, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { reopenOnReconnect } from '../peer/operators/reopen.js';
import { checkPeer } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { sharedByDefault, sharedOver } from '../peer/shared.js';
import type { OpenStream } from '../peer/shared.js';
import { observableFrom } from '../stream/input.js';
import { checkFunction, checkOptions, optionError } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import { valuesEqual } from '../wire/mapping.js';
import type { Store } from './store.js';
import { CONNECTING, statesOf } from './stream-state.js';
import type { StreamState } from './stream-state.js';

/** How `useStream` reads a stream. */
export interface UseStreamOptions<T = unknown> {
  /**
   * The peer whose next socket opens the stream again. Default: the peer that a provider passes to the component, if there is one. `null`
   * keeps a stream of another source, such as a timer, from starting again when the peer reconnects. A `topic` comes back by itself, and
   * needs `null` to keep its place.
   */
  readonly peer?: Peer | null | undefined;
  /** Whether new deps keep the value of the previous stream until the new one has a value. Default `false`. */
  readonly keepValue?: boolean | undefined;
  /**
   * The value before the first one, for the first deps. A server renders it, so pass the same one where the page hydrates. Default
   * `undefined`.
   */
  readonly initialValue?: T | undefined;
  /**
   * Whether components with the same `open` and equal deps read one stream, as `shared` of `rxmux/contract` does it. Default `false`, and
   * `true` for a function that `shared` has made.
   */
  readonly shared?: boolean | undefined;
}

/** Names {@link UseStreamOptions}. */
const OPTIONS: NamesOf<UseStreamOptions> = { peer: true, keepValue: true, initialValue: true, shared: true };

/** A framework that makes fresh deps at each look replaces its store this often, before the hook says so. React ends a render after 25. */
const MOST_IN_ONE_RENDER = 20;

/** One stream of a component: an external store. It subscribes to the stream while it has listeners. */
export class StreamStore<T> implements Store<StreamState<T>> {
  /** The state where a server renders, and until the first listener. */
  readonly initial: StreamState<T>;
  #state: StreamState<T>;
  /** The stores before this one that were replaced in one render, before any effect subscribed to them. */
  #unused = 0;

  readonly #changes$ = defer(() => statesOf(this.#stream(), this.peer, this.#state)).pipe(
    tap((state) => {
      this.#state = state;
    }),
    // StrictMode and Activity remove the listener and add it again in one task: that is still one stream. An ended stream stays ended.
    share({ resetOnComplete: false, resetOnRefCountZero: () => from(Promise.resolve()) }),
  );

  /**
   * @param peer the peer of the provider, if there is one
   * @param value shown until the stream has its first value
   *
   * @throws TypeError for an unknown option, an `open` that is no function, deps that are no array, and a `peer` that is no peer
   */
  constructor(
    readonly open: OpenStream<T>,
    private readonly deps: readonly unknown[],
    private readonly peer: Peer | null,
    private readonly isShared: boolean,
    value?: T,
  ) {
    checkFunction('useStream', open);
    if (!Array.isArray(deps)) throw optionError('useStream', 'an array of deps', deps);
    if (peer !== null) checkPeer('useStream', peer, 'status$');
    this.initial = this.#state = value === undefined ? CONNECTING : { ...CONNECTING, value };
  }

  /** Makes the first store of a component. */
  static first<T>(open: OpenStream<T>, deps: readonly unknown[], provided: Peer | null, options: UseStreamOptions<T>): StreamStore<T> {
    checkOptions(options, OPTIONS);
    const { peer = provided, shared = false, initialValue } = options;
    return new StreamStore(open, deps, peer, shared, initialValue);
  }

  /**
   * Returns the store of other deps or of another peer; this one if both are equal.
   *
   * @throws TypeError where the deps differ each time that one render reads them
   */
  after(open: OpenStream<T>, deps: readonly unknown[], provided: Peer | null, options: UseStreamOptions<T>): StreamStore<T> {
    checkOptions(options, OPTIONS);
    const { peer = provided, shared = false, keepValue = false } = options;
    if (this.isOf(deps, peer)) return this;
    if (this.#unused === MOST_IN_ONE_RENDER) {
      const made = deps.findIndex((dep, at) => !valuesEqual(dep, this.deps[at]));
      throw new TypeError(
        `useStream: expected deps[${made}] to stay the same in one render: make it outside of the component, or by useMemo`,
      );
    }
    const next = new StreamStore(open, deps, peer, shared, keepValue ? this.#state.value : undefined);
    next.#unused = this.#unused + 1;
    // One render is over by then. Many may pass without an effect, as of a hidden `<Activity>`.
    void Promise.resolve().then(() => (next.#unused = 0));
    return next;
  }

  /** Whether the stream was opened by this peer with equal deps. */
  isOf(deps: readonly unknown[], peer: Peer | null): boolean {
    return peer === this.peer && valuesEqual(deps, this.deps);
  }

  /** Whether both stores have equal deps and one peer. */
  isLike(other: StreamStore<unknown>): boolean {
    return this.isOf(other.deps, other.peer);
  }

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#unused = 0;
    const reading = this.#changes$.subscribe(changed);
    return () => {
      reading.unsubscribe();
    };
  };

  readonly state = (): StreamState<T> => this.#state;

  readonly rendered = (): StreamState<T> => this.initial;

  /** The stream, which opens again on each new socket of the peer. A shared one does so below all its subscribers. */
  #stream(): Observable<T> {
    const { open, deps, peer } = this;
    const shared = sharedOver(this.isShared ? sharedByDefault(open) : open, peer);
    const stream$ = defer(() => observableFrom((shared ?? open)(...deps)));
    return shared !== undefined || peer === null ? stream$ : reopenOnReconnect(peer, { open: () => stream$ });
  }
}
