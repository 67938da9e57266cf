import { Subscription } from 'rxjs';
import type { Observable, Observer } from 'rxjs';

/** One thing after the other: what begins ends what went on before. */
export class Step {
  #current = new Subscription();

  proceed<T>(source: Observable<T>, observer: Partial<Observer<T>>): void {
    this.#current.unsubscribe();
    const current = (this.#current = new Subscription());
    // What is done synchronously may already have gone on to the next.
    current.add(source.subscribe(observer));
  }

  /** Whether nothing goes on. */
  get idle(): boolean {
    return this.#current.closed;
  }

  stop(): void {
    this.#current.unsubscribe();
  }
}
