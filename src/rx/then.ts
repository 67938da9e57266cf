import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { Relay } from './relay.js';

/**
 * Continues with `next(value)` after the one value of `source`.
 *
 * In place of `concatMap`, which queues any number of values, and takes promises and iterables too.
 */
export function then<T, R>(source: Observable<T>, next: (value: T) => Observable<R>): Observable<R> {
  return new Observable((subscriber) => source.subscribe(new Then(subscriber, next)));
}

class Then<T, R> extends Relay<T> {
  #continued = false;

  constructor(
    to: Subscriber<R>,
    private readonly next$: (value: T) => Observable<R>,
  ) {
    super(to);
  }

  protected take(value: T): void {
    this.#continued = true;
    this.next$(value).subscribe(this.to);
  }

  override complete(): void {
    if (!this.#continued) super.complete();
    else if (this.stop()) this.unsubscribe();
  }
}
