import { Observable, Subscription, throwError } from 'rxjs';
import type { Observer } from 'rxjs';
import type { Reader } from '../stream/inbox.js';
import { isSubscriber } from '../../rx/is-subscriber.js';
import { openFor, readOpened } from '../stream/late-error.js';
import type { StreamCore } from '../stream/stream-core.js';

type Handlers = Partial<Observer<unknown>>;

const NO_HANDLERS: Handlers = Object.freeze({});

/**
 * The Observable of `open$` without `input`: each subscription opens a stream.
 *
 * If the observer is not part of an operator chain, one object connects it to the stream. rxjs would use a subscriber, a guard around
 * the observer and a list of teardowns. These were a quarter of the memory of an idle stream with its reader.
 */
export class OpenObservable extends Observable<unknown> {
  readonly #open: () => StreamCore;

  constructor(open: () => StreamCore) {
    // rxjs also subscribes subscribers that have unsubscribed meanwhile. No stream is opened for them.
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
    // An operator passes a subscriber, which is already part of a chain.
    return isSubscriber(to) ? super.subscribe(to) : new LeanSubscriber(to).read(this.#open);
  }
}

/** One subscription, with all guarantees of rxjs: an error that a handler throws is reported and does not affect other code. */
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
    // The stream may have emitted its queued values and its end already.
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
    // Leave the stream before added teardowns run (as rxjs does): one that throws must not leak it.
    stream?.unsubscribe();
    super.unsubscribe();
  }
}

/** Reports an unhandled error as rxjs does, through its `config`. */
function report(error: unknown): void {
  throwError(() => error).subscribe();
}
