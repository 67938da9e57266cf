import { Subscription, defer } from 'rxjs';
import { isFailure } from '../contract/failure.js';
import type { CaughtData, ErrorsOf, Failure } from '../contract/failure.js';
import type { Procedure } from '../contract/procedure.js';
import { observableFrom } from '../stream/input.js';
import type { Source } from '../stream/input.js';
import { unheeded } from '../stream/promises.js';
import { checkFunction, checkOptions } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import { CancelledError } from '../wire/errors.js';
import type { Store } from './store.js';

/** A call as a component shows it. */
export interface CallState<T, X extends Procedure = Procedure> {
  /** Whether the latest call runs. */
  readonly pending: boolean;
  /** The latest value of the latest call; `undefined` before it, or the `initialValue`. */
  readonly data: T | undefined;
  /** Why the latest call has failed; `undefined` otherwise, and after an `abort`. */
  readonly error: unknown;
  /**
   * The name, message and data of `error` if it is a declared one, as `fail` made it; `undefined` otherwise. With the option `errors` its
   * `name` narrows its `data`.
   */
  readonly failure: FailureOf<X> | undefined;
}

/** The functions of a component's calls. */
export interface CallActions<Args extends readonly unknown[], T> {
  /**
   * Makes a call, and resolves with its last value, or with `null` where it has none. The state shows an error, so the promise's rejection
   * needs no handler.
   */
  readonly call: (...args: Args) => Promise<T>;
  /** Ends the calls, also on the server. Keeps the data. The promises reject with a `CancelledError`. */
  readonly abort: () => void;
}

/** The declared errors of a procedure, one of a kind for each name. */
export type FailureOf<X extends Procedure> = {
  [N in keyof ErrorsOf<X> & string]: Failure<N, CaughtData<X, N>>['payload'];
}[keyof ErrorsOf<X> & string];

/** How `useCall` makes calls. */
export interface UseCallOptions<T = unknown, X extends Procedure = Procedure> {
  /** The procedure of the call, such as `api.book`: it types `failure`. Default: only the errors that each procedure has. */
  readonly errors?: X | undefined;
  /** The data before the first call. Default `undefined`. */
  readonly initialValue?: T | undefined;
  /** Whether the calls end with their component, as an `abort` ends them. Default `false`: a booking goes on while its dialog closes. */
  readonly abortOnLeave?: boolean | undefined;
}

/** Names {@link UseCallOptions}. */
const OPTIONS: NamesOf<UseCallOptions> = { errors: true, initialValue: true, abortOnLeave: true };

/** The calls of a component: an external store. */
export class CallStore<T, X extends Procedure> implements Store<CallState<T, X>> {
  /** The state before the first call, and where a server renders. */
  readonly initial: CallState<T, X>;
  #state: CallState<T, X>;
  #latest = 0;
  #running = new Subscription();
  readonly #listeners = new Set<() => void>();

  /** @throws TypeError for an unknown option */
  constructor(options: UseCallOptions<T, X>) {
    checkOptions(options, OPTIONS);
    this.initial = this.#state = { pending: false, data: options.initialValue, error: undefined, failure: undefined };
  }

  /** Makes a call. The state follows the latest one, and the calls before it go on. */
  make<Args extends readonly unknown[]>(open: (...args: Args) => Source<T>, args: Args): Promise<T> {
    checkFunction('useCall', open);
    const nth = ++this.#latest;
    const show = (change: Partial<CallState<T, X>>): void => {
      if (nth === this.#latest) this.#set({ ...this.#state, ...change });
    };
    show({ pending: true, data: undefined, error: undefined, failure: undefined });
    return unheeded<T>((resolve, reject) => {
      let last: unknown = null;
      const call = new Subscription(() => {
        reject(new CancelledError('aborted'));
      });
      // Before the call begins, because it may abort all calls at once.
      this.#running.add(call);
      const reading = defer(() => observableFrom(open(...args))).subscribe({
        next: (data) => {
          last = data;
          show({ data });
        },
        error: (error: unknown) => {
          show({ pending: false, error, failure: failureOf<X>(error) });
          reject(error);
        },
        complete: () => {
          show({ pending: false });
          resolve(last as T);
        },
      });
      call.add(reading);
      reading.add(() => this.#running.remove(call));
    });
  }

  /** Ends all calls. Their promises reject with a `CancelledError`. */
  readonly abort = (): void => {
    const nth = ++this.#latest;
    const ended = this.#running;
    this.#running = new Subscription();
    ended.unsubscribe();
    if (nth === this.#latest && this.#state.pending) this.#set({ ...this.#state, pending: false });
  };

  readonly subscribe = (changed: () => void): (() => void) => {
    // The same function may listen twice.
    const listener = (): void => changed();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  readonly state = (): CallState<T, X> => this.#state;

  readonly rendered = (): CallState<T, X> => this.initial;

  #set(state: CallState<T, X>): void {
    this.#state = state;
    for (const listener of [...this.#listeners]) listener();
  }
}

/** `isFailure` reads the types of a procedure, and nothing else. */
const ANY = {} as Procedure;

function failureOf<X extends Procedure>(error: unknown): FailureOf<X> | undefined {
  const { payload } = (error ?? {}) as { readonly payload?: { readonly name?: 'INVALID' } | null };
  return payload?.name !== undefined && isFailure(ANY, payload.name, error) ? (payload as unknown as FailureOf<X> | undefined) : undefined;
}
