import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { Relay } from './relay.js';

/**
 * Emits the values of `first` and of `second`, subscribed in this order. Completes after both.
 *
 * In place of `merge`, which also takes promises, iterables and a limit of concurrent sources: 1 KB of a page.
 */
export function both<T>(first: Observable<T>, second: Observable<T>): Observable<T> {
  return new Observable((subscriber) => {
    const sources = [first, second];
    const running = new Set(sources);
    for (const source of sources) if (!subscriber.closed) source.subscribe(new OneOfBoth(subscriber, source, running));
  });
}

class OneOfBoth<T> extends Relay<T> {
  constructor(
    to: Subscriber<unknown>,
    private readonly source: Observable<T>,
    private readonly running: Set<Observable<T>>,
  ) {
    super(to);
  }

  protected take(value: T): void {
    this.to.next(value);
  }

  override complete(): void {
    if (!this.stop()) return;
    // As with `merge`, this source is released before the subscriber completes.
    this.unsubscribe();
    this.running.delete(this.source);
    if (this.running.size === 0) this.to.complete();
  }
}
