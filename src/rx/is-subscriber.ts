import type { Subscriber } from 'rxjs';

/** Whether an observer is a Subscriber of rxjs, as operators pass it. A Subscriber is part of a chain, which handles thrown errors. */
export function isSubscriber<T>(observer: object): observer is Subscriber<T> {
  // A Subject has `unsubscribe`, but no `add`.
  return 'add' in observer && 'unsubscribe' in observer;
}
