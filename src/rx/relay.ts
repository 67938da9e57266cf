import { Subscription } from 'rxjs';
import type { Observer, Subscriber } from 'rxjs';

/**
 * The subscriber between a source and the next subscriber. It ends with the next one, so a source that emits within `subscribe` sees at
 * once, by `closed`, that it may stop.
 *
 * In place of the subscribers of rxjs's `map` and `filter`: a pipeline has one for each step. rxjs treats an observer that is also a
 * Subscription as a Subscriber, and adds no SafeSubscriber. Its `isSubscriber` in Observable.ts checks only the shape.
 */
export abstract class Relay<T> extends Subscription implements Observer<T> {
  /** Set before the next subscriber receives the end: a value that the source emits during that comes too late. */
  #isStopped = false;

  constructor(protected readonly to: Subscriber<unknown>) {
    super();
    to.add(this);
  }

  /** Whether the end has reached the next subscriber. It has not where that subscriber left before. */
  protected get hasEnded(): boolean {
    return this.#isStopped;
  }

  /** Marks the end for a subclass that delivers it in its own way. Returns `false` if there is nothing to deliver. */
  protected stop(): boolean {
    if (this.closed || this.#isStopped) return false;
    return (this.#isStopped = true);
  }

  /** Takes one value. An error that it throws is the error of the pipeline. */
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
    if (!this.stop()) return;
    this.to.error(error);
    this.unsubscribe();
  }

  complete(): void {
    if (!this.stop()) return;
    this.to.complete();
    this.unsubscribe();
  }
}
