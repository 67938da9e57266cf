import type { Observer, Subscriber } from 'rxjs';

/** Whether an observer is a Subscriber of rxjs, as operators bring it: one that is torn down by itself and deals with what is thrown. */
export function isSubscriber<T>(observer: Partial<Observer<T>>): observer is Subscriber<T> {
  // A Subject has the second, but is not part of a chain.
  return 'add' in observer && 'unsubscribe' in observer;
}
