import { Observable } from 'rxjs';
import type { Observer, Subscriber, Subscription } from 'rxjs';
import { isSubscriber } from './is-subscriber.js';
import { LeanSubscriber } from './subscribers.js';

/** The first argument of `subscribe`. */
export type ObserverOrNext<T> = Partial<Observer<T>> | ((value: T) => void) | null;

/** Returns the subscriber for the arguments of `subscribe`: the one that an operator passes, or a new one that reports unhandled errors. */
export function subscriberOf<T>(
  observerOrNext?: ObserverOrNext<T>,
  error?: ((error: unknown) => void) | null,
  complete?: (() => void) | null,
): Subscriber<T> | LeanSubscriber<T> {
  const observer =
    typeof observerOrNext === 'object' && observerOrNext !== null ? observerOrNext : { next: observerOrNext, error, complete };
  return isSubscriber<T>(observer) ? observer : new LeanSubscriber(observer);
}

/** An Observable that reports errors which its observers do not handle. For a subscriber that an operator passes, rxjs reports them. */
export class GuardedObservable<T> extends Observable<T> {
  override subscribe(
    observerOrNext?: ObserverOrNext<T>,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    return super.subscribe(subscriberOf(observerOrNext, error, complete));
  }
}
