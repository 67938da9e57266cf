import { useSyncExternalStore } from 'react';
import { Subscription, timer } from 'rxjs';
import type { OpenStream } from '../peer/shared.js';
import { StreamStore } from '../store/stream-store.js';
import type { StreamState, StreamStatus } from '../store/stream-state.js';
import type { UseStreamOptions } from '../store/stream-store.js';
import type { Source } from '../stream/input.js';
import { steadyNow } from '../util/time.js';
import { useHeld } from './held.js';
import { useOptionalMux } from './mux.js';

/** A stream that has a value. */
export interface SuspenseStreamState<T> {
  /** The latest value. It stays while the peer reconnects, and after the end. */
  readonly value: T;
  /** The state of the stream. It is never `error`. */
  readonly status: StreamStatus;
}

/** How long a stream waits for its component to mount, in ms. React may never mount it. */
const UNUSED_MS = 30_000;
/** How long an ended stream serves the renders of one try, in ms. */
const ENDED_MS = 1_000;
/** A function that each render makes anew would open a stream for each, for ever. The hook refuses it after 20 renders. */
const MOST_ALIKE = 20;
/** One slow render opens its streams in many turns, for less than this, in ms: also of a phone, or of a processor with much other work. */
const SLOW_RENDER_MS = 5_000;

/**
 * A {@link useStream} that suspends until the first value, and throws the error of its stream: for a `<Suspense>` and an error boundary
 * above the component. The stream opens once. The render after the value, and the mounted component, go on with it.
 *
 * React drops the state of a component that suspends. The hook therefore finds the stream by `open` and its deps, so `open` has to be the
 * same function at each render: a call of a contract, or one that is declared outside of the component.
 *
 * A server that renders opens none. It renders `initialValue`, or else the fallback of the `<Suspense>`, and the page opens the stream.
 * An error boundary that renders its children again opens the stream anew, one second after the failure or later.
 *
 * @param open as for `useStream`, but the same function at each render
 * @returns the latest value and the status
 * @throws the error of the stream; Error where the stream completes without a value; TypeError for an `open` that changes at each render
 *
 * @example
 * ```tsx
 * function Price({ symbol }: { symbol: string }) {
 *   const { value } = useSuspenseStream(calls.price, [{ symbol }]);
 *   return <p>{value.cents}</p>;
 * }
 *
 * <Suspense fallback="…"><Price symbol="ACME" /></Suspense>
 * ```
 */
export function useSuspenseStream<T, Args extends readonly unknown[]>(
  open: (...args: Args) => Source<T>,
  deps: readonly [...Args],
  options?: UseStreamOptions<T>,
): SuspenseStreamState<T>;
export function useSuspenseStream<T>(
  open: OpenStream<T>,
  deps: readonly unknown[],
  options: UseStreamOptions<T> = {},
): SuspenseStreamState<T> {
  const provided = useOptionalMux();
  const used = useHeld(
    () => suspended(StreamStore.first(open, deps, provided, options)),
    (held) => {
      const store = held.store.after(open, deps, provided, options);
      return store === held.store ? held : suspended(store);
    },
  );
  const { value, error, status } = useSyncExternalStore(used.subscribe, used.store.state, used.rendered);
  if (status === 'error') throw error;
  if (value !== undefined) return { value, status };
  if (status === 'complete') throw new Error('useSuspenseStream: expected a value, got a stream that completed without one');
  throw used.ready() as unknown;
}

/** Counts the turns in which streams open. A render is one. */
let turn = 0;
/** The streams of components that have suspended and not mounted. */
const waiting = new Set<SuspendedStream<unknown>>();

/** Returns the stream of an earlier render that suspended, or else a new one. With a value a component never waits. */
function suspended<T>(store: StreamStore<T>): SuspendedStream<T> {
  const isSame = (other: SuspendedStream<unknown>): boolean => other.store.open === store.open && other.store.isLike(store);
  const earlier = store.initial.value === undefined ? [...waiting].find(isSame) : undefined;
  return (earlier as SuspendedStream<T> | undefined) ?? new SuspendedStream(store);
}

/** A stream that opens before its component mounts. */
class SuspendedStream<T> {
  #ready: Promise<void> | undefined;
  #resolve = (): void => undefined;
  #release = (): void => undefined;
  /** The turn in which the stream has opened, and its time. */
  #turn = 0;
  #openedAt = 0;
  /** How many renders in a row have opened such a stream, each after the stream before was ready. */
  #nth = 1;
  #isReady = false;
  /** Whether a render has asked since the last look. */
  #isWanted = false;

  constructor(readonly store: StreamStore<T>) {}

  /** Opens the stream. Resolves once it has a value or has ended, and now and then before, to see whether a render still asks. */
  ready(): Promise<void> {
    this.#isWanted = true;
    // Made first, because the stream may have its value within the subscription.
    const ready = (this.#ready ??= new Promise((resolve) => {
      this.#resolve = resolve;
    }));
    if (!waiting.has(this)) this.#open();
    return ready;
  }

  /** The component has mounted, and holds the stream itself from now on. */
  readonly subscribe = (changed: () => void): (() => void) => {
    const close = this.store.subscribe(changed);
    this.#release();
    return close;
  };

  readonly rendered = (): StreamState<T> => {
    const { initial } = this.store;
    if (initial.value !== undefined) return initial;
    throw new Error('useSuspenseStream: a server opens no stream. It renders the fallback, and the page opens the stream');
  };

  #open(): void {
    this.#refuseAlike();
    this.#openedAt = steadyNow();
    const now = (this.#turn = turn);
    void Promise.resolve().then(() => (turn = now + 1));
    waiting.add(this);
    const holding = new Subscription();
    this.#release = () => {
      waiting.delete(this);
      holding.unsubscribe();
    };
    holding.add(timer(UNUSED_MS, UNUSED_MS).subscribe(() => this.#look()));
    holding.add(
      this.store.subscribe(() => {
        const { value, status } = this.store.state();
        const isOver = status === 'error' || status === 'complete';
        this.#isReady = value !== undefined || isOver;
        if (this.#isReady) this.#resolve();
        if (isOver) holding.add(timer(ENDED_MS, ENDED_MS).subscribe(() => this.#leave()));
      }),
    );
  }

  /** Releases an ended stream. A value stays while another component suspends: both may wait for one `<Suspense>`. */
  #leave(): void {
    const { value, status } = this.store.state();
    const isAwaited = status === 'complete' && value !== undefined && [...waiting].some((other) => !other.#isReady);
    if (!isAwaited) this.#release();
  }

  #look(): void {
    if (this.#isWanted) this.#isWanted = false;
    else this.#release();
    this.#ready = undefined;
    this.#resolve();
  }

  #refuseAlike(): void {
    const { open } = this.store;
    const text = String(open);
    const alike = [...waiting].filter(({ store }) => store.open !== open && String(store.open) === text && store.isLike(this.store));
    // One render may open many: a row each, with the functions of one factory. A slow one takes many turns for that.
    const before = alike.filter((other) => other.#isReady && other.#turn !== turn);
    this.#nth = 1 + Math.max(0, ...before.map((other) => other.#nth));
    const isSlow = alike.every((other) => steadyNow() - other.#openedAt < SLOW_RENDER_MS);
    if (this.#nth <= MOST_ALIKE && (isSlow || new Set(alike.map((other) => other.#turn)).size < MOST_ALIKE)) return;
    throw new TypeError(
      'useSuspenseStream: expected the same function at each render, got another one: declare it outside of the component',
    );
  }
}
