import { Observable } from 'rxjs';
import type { Observer, Subscription } from 'rxjs';
import { isSubscriber } from './is-subscriber.js';
import { LeanSubscriber } from './lean-subscriber.js';
import type { Handlers } from './unhandled.js';

/** The first argument of `subscribe`. */
export type ObserverOrNext<T> = Partial<Observer<T>> | ((value: T) => void) | null;

/** Returns the observer that the arguments of `subscribe` describe. */
export function observerOf<T>(
  observerOrNext?: ObserverOrNext<T>,
  error?: ((error: unknown) => void) | null,
  complete?: (() => void) | null,
): Handlers<T> {
  return typeof observerOrNext === 'object' && observerOrNext !== null ? observerOrNext : { next: observerOrNext, error, complete };
}

/** An Observable that reports errors which its observers do not handle. For a subscriber that an operator passes, rxjs reports them. */
export class GuardedObservable<T> extends Observable<T> {
  override subscribe(
    observerOrNext?: ObserverOrNext<T>,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    const observer = observerOf(observerOrNext, error, complete);
    return super.subscribe(isSubscriber<T>(observer) ? observer : new LeanSubscriber(observer));
  }
}
