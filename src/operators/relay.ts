import { Subscription } from 'rxjs';
import type { Observer, Subscriber } from 'rxjs';

/**
 * Stands between a source and the next subscriber, and is let go with it: a source that gives all it has while it is being
 * subscribed to sees at once that nobody wants more. To rxjs it is a subscriber, so nothing is put around it.
 */
export abstract class Relay<T> extends Subscription implements Observer<T> {
  constructor(protected readonly to: Subscriber<unknown>) {
    super();
    to.add(this);
  }

  /** Takes one value. What it throws is the error of the pipeline. */
  protected abstract take(value: T): void;

  next(value: T): void {
    if (this.closed) return;
    try {
      this.take(value);
    } catch (error) {
      this.error(error);
    }
  }

  error(error: unknown): void {
    if (this.closed) return;
    this.to.error(error);
    this.unsubscribe();
  }

  complete(): void {
    if (this.closed) return;
    this.to.complete();
    this.unsubscribe();
  }
}
