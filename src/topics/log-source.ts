import { Subscription } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { observableFrom, pullSource } from '../stream/input.js';
import type { PullSource } from '../stream/input.js';
import type { Pull } from '../stream/iterator.js';
import { Fifo } from '../util/collections.js';

/** Returns a source to pull the values of an input by. The values of a pushing input wait in memory. */
export function sourceOf(input: ObservableInput<unknown>): PullSource {
  return pullSource(Object(input) as object) ?? new PushedSource(input);
}

/** Keeps the values of a pushing input until they are pulled. */
class PushedSource implements PullSource {
  readonly #kept = new Fifo<{ readonly value: unknown }>();
  readonly #subscription = new Subscription();
  #taker: Pull<unknown> | null = null;
  #end: ((taker: Pull<unknown>) => void) | null = null;

  constructor(input: ObservableInput<unknown>) {
    this.#subscription.add(
      observableFrom(input).subscribe({
        next: (value) => {
          this.#kept.push({ value });
          this.#settle();
        },
        error: (error: unknown) => {
          this.#finish((taker) => taker.reject(error));
        },
        complete: () => {
          this.#finish((taker) => taker.resolve({ done: true, value: undefined }));
        },
      }),
    );
  }

  pull(taker: Pull<unknown>): void {
    this.#taker = taker;
    this.#settle();
  }

  stop(): void {
    this.#taker = null;
    this.#subscription.unsubscribe();
  }

  #finish(end: (taker: Pull<unknown>) => void): void {
    this.#end = end;
    this.#settle();
  }

  #settle(): void {
    const taker = this.#taker;
    if (taker === null) return;
    const kept = this.#kept.shift();
    if (kept === undefined && this.#end === null) return;
    this.#taker = null;
    if (kept !== undefined) taker.resolve({ done: false, value: kept.value });
    else this.#end?.(taker);
  }
}
