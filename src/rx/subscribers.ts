import { Subscription } from 'rxjs';
import type { Observer, Subscriber, TeardownLogic, Unsubscribable } from 'rxjs';
import { callComplete, callError, callNext } from './unhandled.js';
import type { Handlers } from './unhandled.js';

const NO_HANDLERS: Handlers<unknown> = Object.freeze({});

/**
 * One subscription. It reports an error that a handler throws, so the error affects no other code.
 *
 * In place of rxjs's SafeSubscriber, which also needs a guard around the observer and a list of teardowns. These took a quarter of the
 * memory of an idle stream with its reader.
 */
export class LeanSubscriber<T = unknown> extends Subscription implements Observer<T> {
  #handlers: Handlers<T>;
  #source: Unsubscribable | null = null;

  constructor(handlers: Handlers<T>) {
    super();
    this.#handlers = handlers;
  }

  /** Unsubscribes from `source` when this subscription ends. The source may have ended already. */
  follow(source: Unsubscribable): void {
    if (this.closed) source.unsubscribe();
    else this.#source = source;
  }

  next(value: T): void {
    callNext(this.#handlers, value);
  }

  error(error: unknown): void {
    this.#end((handlers) => {
      callError(handlers, error);
    });
  }

  complete(): void {
    this.#end(callComplete);
  }

  override unsubscribe(): void {
    const source = this.#source;
    this.#source = null;
    this.#handlers = NO_HANDLERS;
    // Leave the source before added teardowns run (as rxjs does): one that throws must not leak it.
    source?.unsubscribe();
    super.unsubscribe();
  }

  /** Removes the handlers before one of them receives the end: a value that the source emits during that comes too late. */
  #end(receive: (handlers: Handlers<T>) => void): void {
    const handlers = this.#handlers;
    if (handlers === NO_HANDLERS) return;
    this.#handlers = NO_HANDLERS;
    receive(handlers);
    this.unsubscribe();
  }
}

/** Returns the teardown of a subscriber that reads `source`. A {@link LeanSubscriber} follows the source without a teardown. */
export function followed(subscriber: Subscriber<unknown>, source: Unsubscribable): TeardownLogic {
  if (!(subscriber instanceof LeanSubscriber)) return source;
  subscriber.follow(source);
  return undefined;
}
