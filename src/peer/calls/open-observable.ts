import { Observable } from 'rxjs';
import type { Subscription } from 'rxjs';
import { observerOf } from '../../rx/guarded-observable.js';
import type { ObserverOrNext } from '../../rx/guarded-observable.js';
import { isSubscriber } from '../../rx/is-subscriber.js';
import { LeanSubscriber } from '../../rx/lean-subscriber.js';
import { openFor, readOpened } from '../stream/late-error.js';
import type { StreamCore } from '../stream/stream-core.js';

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
    observerOrNext?: ObserverOrNext<unknown>,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    const observer = observerOf(observerOrNext, error, complete);
    // An operator passes a subscriber, which is already part of a chain.
    if (isSubscriber(observer)) return super.subscribe(observer);
    const subscriber = new LeanSubscriber(observer);
    const stream = openFor(subscriber, this.#open);
    if (stream !== undefined) subscriber.follow(readOpened(subscriber, stream));
    return subscriber;
  }
}
