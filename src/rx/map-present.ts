import { Observable } from 'rxjs';
import type { OperatorFunction, Subscriber } from 'rxjs';
import { Relay } from './relay.js';

type Project<T, R> = (value: T) => R | null;

/**
 * `map` that drops results of `null`.
 *
 * In place of rxjs's `map` and `filter`: several steps in a row become one Observable. So a frame passes one subscriber for all steps,
 * and a connection keeps one.
 */
export function mapPresent<T, R>(project: Project<T, R>): OperatorFunction<T, R> {
  return (source) => {
    const next = project as Project<unknown, unknown>;
    return source instanceof Mapped ? new Mapped<R>(source.origin, source.projects.concat(next)) : new Mapped<R>(source, [next]);
  };
}

/** Emits the values of `origin` after each of `projects`; the last returns an `R`. */
class Mapped<R> extends Observable<R> {
  constructor(
    readonly origin: Observable<unknown>,
    readonly projects: readonly Project<unknown, unknown>[],
  ) {
    super((subscriber) => origin.subscribe(new Steps(projects, subscriber)));
  }
}

class Steps extends Relay<unknown> {
  constructor(
    private readonly projects: readonly Project<unknown, unknown>[],
    to: Subscriber<unknown>,
  ) {
    super(to);
  }

  protected take(value: unknown): void {
    let passed = value;
    for (const project of this.projects) {
      passed = project(passed);
      if (passed === null) return;
    }
    this.to.next(passed);
  }
}
