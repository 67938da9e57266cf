import { LazyMap } from '../../util/collections.js';

/** A call that its caller's signal cancels. */
export interface Abortable {
  /** The signal has aborted. */
  aborted(reason: unknown): void;
}

/** A signal and its calls. */
class SharedSignal {
  readonly #calls = new Set<Abortable>();

  constructor(private readonly signal: AbortSignal) {
    signal.addEventListener('abort', this.#onAbort);
  }

  add(call: Abortable): void {
    this.#calls.add(call);
  }

  /** Removes a call. After the last call, removes the listener and returns `true`. */
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
 * The callers' signals of one peer. Each signal has one listener, however many calls share the signal. A signal scans all its listeners to add
 * or remove one, and Node warns of a leak beyond ten.
 */
export class AbortSignals {
  readonly #signals = new LazyMap<AbortSignal, SharedSignal>();

  /** Calls `call.aborted` when `signal` aborts, unless the call is {@link remove removed} before. Keeps the order of the calls. */
  add(signal: AbortSignal, call: Abortable): void {
    const shared = this.#signals.get(signal) ?? new SharedSignal(signal);
    shared.add(call);
    this.#signals.set(signal, shared);
  }

  remove(signal: AbortSignal, call: Abortable): void {
    if (this.#signals.get(signal)?.delete(call) === true) this.#signals.delete(signal);
  }
}
