import { LazyMap } from '../../wire/lazy.js';

/** What a caller's signal cancels. */
export interface Abortable {
  /** The signal has aborted. */
  aborted(reason: unknown): void;
}

/** A signal and the calls that were given it. */
class SharedSignal {
  readonly #calls = new Set<Abortable>();

  constructor(private readonly signal: AbortSignal) {
    signal.addEventListener('abort', this.#onAbort);
  }

  add(call: Abortable): void {
    this.#calls.add(call);
  }

  /** Whether nobody is left, and the signal let go. */
  delete(call: Abortable): boolean {
    this.#calls.delete(call);
    if (this.#calls.size > 0) return false;
    this.signal.removeEventListener('abort', this.#onAbort);
    return true;
  }

  readonly #onAbort = (): void => {
    for (const call of this.#calls) call.aborted(this.signal.reason);
  };
}

/**
 * The callers' signals of one peer. Each has one listener, however many calls share it: to add and to remove one, a signal
 * looks at all it has, and beyond ten Node warns of a leak.
 */
export class AbortSignals {
  readonly #signals = new LazyMap<AbortSignal, SharedSignal>();

  /** Tells `call` when `signal` aborts, unless it is {@link remove removed} before. Calls are told in the order in which they came. */
  add(signal: AbortSignal, call: Abortable): void {
    const shared = this.#signals.get(signal) ?? new SharedSignal(signal);
    shared.add(call);
    this.#signals.set(signal, shared);
  }

  remove(signal: AbortSignal, call: Abortable): void {
    if (this.#signals.get(signal)?.delete(call) === true) this.#signals.delete(signal);
  }
}
