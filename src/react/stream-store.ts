import { defer, from, share, tap } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import type { Peer } from '../peer/peer.js';
import { checkFunction, optionError } from '../util/check.js';
import { valuesEqual } from '../wire/mapping.js';
import { CONNECTING, statesOf } from './stream-state.js';
import type { StreamState } from './stream-state.js';

type Open<T> = (...args: readonly unknown[]) => ObservableInput<T>;

/** React ends a render after 25 replaced states, and does not say which. */
const MOST_IN_ONE_RENDER = 20;

/** One stream of a component: an external store, as `useSyncExternalStore` reads it. It subscribes to the stream while it has listeners. */
export class StreamStore<T> {
  #state: StreamState<T>;
  /** The stores before this one that were replaced before any effect subscribed to them. */
  #unused = 0;

  readonly #changes$ = defer(() => statesOf(() => this.open(...this.deps), this.peer, this.#state)).pipe(
    tap((state) => {
      this.#state = state;
    }),
    // StrictMode and Activity remove the listener and add it again in one task: that is still one stream. An ended stream stays ended.
    share({ resetOnComplete: false, resetOnRefCountZero: () => from(Promise.resolve()) }),
  );

  /** @param value shown until the stream has its first value */
  constructor(
    private readonly open: Open<T>,
    private readonly deps: readonly unknown[],
    private readonly peer: Peer | null,
    value?: T,
  ) {
    checkFunction('useStream', open);
    if (!Array.isArray(deps)) throw optionError('useStream', 'an array of deps', deps);
    this.#state = value === undefined ? CONNECTING : { ...CONNECTING, value };
  }

  /**
   * Returns the store of other deps.
   *
   * @throws TypeError where the deps differ each time that one render reads them
   */
  replaced(deps: readonly unknown[], peer: Peer | null, open: Open<T>, value?: T): StreamStore<T> {
    if (this.#unused === MOST_IN_ONE_RENDER) {
      const made = deps.findIndex((dep, at) => !valuesEqual(dep, this.deps[at]));
      throw new TypeError(
        `useStream: expected deps[${made}] to stay the same in one render: make it outside of the component, or by useMemo`,
      );
    }
    const next = new StreamStore(open, deps, peer, value);
    next.#unused = this.#unused + 1;
    return next;
  }

  /** Whether the stream was opened by this peer with equal deps. */
  isOf(deps: readonly unknown[], peer: Peer | null): boolean {
    return peer === this.peer && valuesEqual(deps, this.deps);
  }

  readonly subscribe = (changed: () => void): (() => void) => {
    this.#unused = 0;
    const reading = this.#changes$.subscribe(changed);
    return () => {
      reading.unsubscribe();
    };
  };

  readonly state = (): StreamState<T> => this.#state;
}
