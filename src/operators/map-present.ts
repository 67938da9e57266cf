import { Observable } from 'rxjs';
import type { OperatorFunction } from 'rxjs';

/** `map`, with what is `null` left out: one subscriber for each frame to pass instead of the two of `map` and `filter`. */
export function mapPresent<T, R>(project: (value: T) => R | null): OperatorFunction<T, R> {
  return (source) =>
    new Observable((subscriber) =>
      source.subscribe({
        next(value) {
          let result: R | null;
          try {
            result = project(value);
          } catch (error) {
            subscriber.error(error);
            return;
          }
          if (result !== null) subscriber.next(result);
        },
        error(error) {
          subscriber.error(error);
        },
        complete() {
          subscriber.complete();
        },
      }),
    );
}
