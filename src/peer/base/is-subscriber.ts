import type { Subscriber } from 'rxjs';

/** Whether an observer is a Subscriber of rxjs, as operators bring it: part of a chain, which deals with what is thrown. */
export function isSubscriber<T>(observer: object): observer is Subscriber<T> {
  // A Subject has only the second.
  return 'add' in observer && 'unsubscribe' in observer;
}
