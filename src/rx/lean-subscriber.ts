import { Subscription } from 'rxjs';
import type { Observer, Unsubscribable } from 'rxjs';
import { callComplete, callError, callNext } from './unhandled.js';
import type { Handlers } from './unhandled.js';

const NO_HANDLERS: Handlers<unknown> = Object.freeze({});

/**
 * One subscription. An error that a handler throws is reported, and affects no other code.
 *
 * In place of rxjs's SafeSubscriber, which needs a guard around the observer and a list of teardowns too. These were a quarter of the
 * memory of an idle stream with its reader.
 */
export class LeanSubscriber extends Subscription implements Observer<unknown> {
  #handlers: Handlers<unknown>;
  #source: Unsubscribable | null = null;

  constructor(handlers: Handlers<unknown>) {
    super();
    this.#handlers = handlers;
  }

  /** Leaves `source` with this subscription. The source may have ended already. */
  follow(source: Unsubscribable): void {
    if (this.closed) source.unsubscribe();
    else this.#source = source;
  }

  next(value: unknown): void {
    if (!this.closed) callNext(this.#handlers, value);
  }

  error(error: unknown): void {
    if (this.closed) return;
    callError(this.#handlers, error);
    this.unsubscribe();
  }

  complete(): void {
    if (this.closed) return;
    callComplete(this.#handlers);
    this.unsubscribe();
  }

  override unsubscribe(): void {
    const source = this.#source;
    this.#source = null;
    this.#handlers = NO_HANDLERS;
    // Leave the source before added teardowns run (as rxjs does): one that throws must not leak it.
    source?.unsubscribe();
    super.unsubscribe();
  }
}
