import { Observable } from 'rxjs';
import type { Observer, OperatorFunction, Subscriber } from 'rxjs';

/**
 * `map`, with what is `null` left out. Several in a row are one: a frame passes one subscriber for all of them, and a
 * connection keeps one.
 */
export function mapPresent<T, R>(project: (value: T) => R | null): OperatorFunction<T, R> {
  return (source) => (source instanceof Mapped ? (source as Mapped<unknown, T>).andThen(project) : new Mapped(source, project));
}

class Mapped<T, R> extends Observable<R> {
  constructor(
    private readonly origin: Observable<T>,
    private readonly project: (value: T) => R | null,
  ) {
    super((subscriber) => origin.subscribe(new Step(project, subscriber)));
  }

  andThen<S>(next: (value: R) => S | null): Mapped<T, S> {
    const { project } = this;
    return new Mapped(this.origin, (value) => {
      const between = project(value);
      return between === null ? null : next(between);
    });
  }
}

class Step<T, R> implements Observer<T> {
  constructor(
    private readonly project: (value: T) => R | null,
    private readonly subscriber: Subscriber<R>,
  ) {}

  next(value: T): void {
    const { project } = this;
    let result: R | null;
    try {
      result = project(value);
    } catch (error) {
      this.subscriber.error(error);
      return;
    }
    if (result !== null) this.subscriber.next(result);
  }

  error(error: unknown): void {
    this.subscriber.error(error);
  }

  complete(): void {
    this.subscriber.complete();
  }
}
