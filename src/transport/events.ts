import { Observable } from 'rxjs';

/**
 * Emits the events of a target, and listens while subscribed.
 *
 * In place of `fromEvent`, which also takes emitters of Node and lists of targets.
 */
export function eventsOf<E extends Event>(
  target: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>,
  type: string,
): Observable<E> {
  return new Observable((subscriber) => {
    const listener = (event: Event): void => {
      subscriber.next(event as E);
    };
    target.addEventListener(type, listener);
    return () => {
      target.removeEventListener(type, listener);
    };
  });
}
