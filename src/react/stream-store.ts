import { defer, from, share, tap } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import type { Peer } from '../peer/peer.js';
import { valuesEqual } from '../wire/frames-equal.js';
import { CONNECTING, statesOf } from './stream-state.js';
import type { StreamState } from './stream-state.js';

/** One stream of a component: an external store, as `useSyncExternalStore` reads it. It subscribes to the stream while it has listeners. */
export class StreamStore<T> {
  #state: StreamState<T>;

  readonly #changes$ = defer(() => statesOf(() => this.open(...this.deps), this.peer, this.#state)).pipe(
    tap((state) => {
      this.#state = state;
    }),
    // StrictMode and Activity remove the listener and add it again in one task: that is still one stream. An ended stream stays ended.
    share({ resetOnComplete: false, resetOnRefCountZero: () => from(Promise.resolve()) }),
  );

  /** @param value shown until the stream has its first value */
  constructor(
    private readonly open: (...args: readonly unknown[]) => ObservableInput<T>,
    private readonly deps: readonly unknown[],
    private readonly peer: Peer | null,
    value?: T,
  ) {
    this.#state = value === undefined ? CONNECTING : { ...CONNECTING, value };
  }

  /** Whether the stream was opened by this peer with equal deps. */
  isOf(deps: readonly unknown[], peer: Peer | null): boolean {
    return peer === this.peer && valuesEqual(deps, this.deps);
  }

  readonly subscribe = (changed: () => void): (() => void) => {
    const reading = this.#changes$.subscribe(changed);
    return () => {
      reading.unsubscribe();
    };
  };

  readonly state = (): StreamState<T> => this.#state;
}
