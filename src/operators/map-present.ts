import { Observable } from 'rxjs';
import type { Observer, OperatorFunction, Subscriber } from 'rxjs';

type Project<T, R> = (value: T) => R | null;

/**
 * `map`, with what is `null` left out. Several in a row are one: a frame passes one subscriber for all of them, and a
 * connection keeps one.
 */
export function mapPresent<T, R>(project: Project<T, R>): OperatorFunction<T, R> {
  return (source) => {
    const next = project as Project<unknown, unknown>;
    return source instanceof Mapped ? new Mapped<R>(source.origin, [...source.projects, next]) : new Mapped<R>(source, [next]);
  };
}

/** What `origin` emits, after each of `projects`; the last gives an `R`. */
class Mapped<R> extends Observable<R> {
  constructor(
    readonly origin: Observable<unknown>,
    readonly projects: readonly Project<unknown, unknown>[],
  ) {
    super((subscriber) => origin.subscribe(new Steps(projects, subscriber)));
  }
}

class Steps implements Observer<unknown> {
  constructor(
    private readonly projects: readonly Project<unknown, unknown>[],
    private readonly subscriber: Subscriber<unknown>,
  ) {}

  next(value: unknown): void {
    let passed = value;
    try {
      for (const project of this.projects) {
        passed = project(passed);
        if (passed === null) return;
      }
    } catch (error) {
      this.subscriber.error(error);
      return;
    }
    this.subscriber.next(passed);
  }

  error(error: unknown): void {
    this.subscriber.error(error);
  }

  complete(): void {
    this.subscriber.complete();
  }
}
