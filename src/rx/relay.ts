import { Subscription } from 'rxjs';
import type { Observer, Subscriber } from 'rxjs';

/**
 * Stands between a source and the next subscriber, and is let go with it: a source that gives all it has while it is being
 * subscribed to sees at once, by `closed`, that nobody wants more. To rxjs an observer that is a Subscription too is a Subscriber
 * (`isSubscriber` in its Observable.ts goes by shape), so `subscribe` puts no SafeSubscriber around it.
 */
export abstract class Relay<T> extends Subscription implements Observer<T> {
  /** Set before anybody is told of the end: what a source gives from within that is late. */
  #isStopped = false;

  constructor(protected readonly to: Subscriber<unknown>) {
    super();
    to.add(this);
  }

  /** Takes one value. What it throws is the error of the pipeline. */
  protected abstract take(value: T): void;

  next(value: T): void {
    if (this.closed || this.#isStopped) return;
    try {
      this.take(value);
    } catch (error) {
      this.error(error);
    }
  }

  error(error: unknown): void {
    if (this.closed || this.#isStopped) return;
    this.#isStopped = true;
    this.to.error(error);
    this.unsubscribe();
  }

  complete(): void {
    if (this.closed || this.#isStopped) return;
    this.#isStopped = true;
    this.to.complete();
    this.unsubscribe();
  }
}
