import { Observable, Subscription, throwError } from 'rxjs';
import type { Observer } from 'rxjs';
import type { Reader } from '../stream/inbox.js';
import { isSubscriber } from '../base/is-subscriber.js';
import { openFor, readOpened } from '../stream/late-error.js';
import type { StreamCore } from '../stream/stream-core.js';

type Handlers = Partial<Observer<unknown>>;

const NO_HANDLERS: Handlers = Object.freeze({});

/**
 * The Observable of `open$` without `input`: each subscription opens a stream.
 *
 * An observer without an operator before it reads the stream through one object, where rxjs puts a subscriber, a guard
 * around the observer and a list of what to tear down: that was a quarter of what an idle stream weighs with its reader.
 */
export class OpenObservable extends Observable<unknown> {
  readonly #open: () => StreamCore;

  constructor(open: () => StreamCore) {
    // rxjs subscribes those, too, that have left meanwhile: for them no stream is opened.
    super((subscriber) => {
      const stream = subscriber.closed ? undefined : openFor(subscriber, open);
      return stream && readOpened(subscriber, stream);
    });
    this.#open = open;
  }

  override subscribe(
    to?: Handlers | ((value: unknown) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    if (typeof to !== 'object' || to === null) return new LeanSubscriber({ next: to, error, complete } as Handlers).read(this.#open);
    // Operators bring a subscriber, which is already part of a chain.
    return isSubscriber(to) ? super.subscribe(to) : new LeanSubscriber(to).read(this.#open);
  }
}

/** One subscription, with all that rxjs promises of it: a handler that throws is reported and harms nobody else. */
class LeanSubscriber extends Subscription implements Reader<unknown> {
  #handlers: Handlers;
  #stream: StreamCore | null = null;

  constructor(handlers: Handlers) {
    super();
    this.#handlers = handlers;
  }

  read(open: () => StreamCore): this {
    const stream = openFor(this, open);
    if (stream === undefined) return this;
    readOpened(this, stream);
    // It may have been given its end already, after what waited.
    if (this.closed) stream.unsubscribe();
    else this.#stream = stream;
    return this;
  }

  next(value: unknown): void {
    if (this.closed) return;
    try {
      this.#handlers.next?.(value);
    } catch (error) {
      report(error);
    }
  }

  error(error: unknown): void {
    if (this.closed) return;
    const handlers = this.#handlers;
    try {
      if (handlers.error) handlers.error(error);
      else report(error);
    } catch (thrown) {
      report(thrown);
    }
    this.unsubscribe();
  }

  complete(): void {
    if (this.closed) return;
    try {
      this.#handlers.complete?.();
    } catch (error) {
      report(error);
    }
    this.unsubscribe();
  }

  override unsubscribe(): void {
    const stream = this.#stream;
    this.#stream = null;
    this.#handlers = NO_HANDLERS;
    // Ahead of what was added to this, as with rxjs: none of that can keep the stream.
    stream?.unsubscribe();
    super.unsubscribe();
  }
}

/** As rxjs reports what nobody handles, with its `config`. */
function report(error: unknown): void {
  throwError(() => error).subscribe();
}
