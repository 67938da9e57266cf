import { map, take } from 'rxjs';
import type { Subscription } from 'rxjs';
import { observableFrom, pullSource } from '../stream/input.js';
import type { PullSource, Source } from '../stream/input.js';
import type { Pull } from '../stream/iterator.js';
import { optionError } from '../util/check.js';
import { Fifo } from '../util/collections.js';
import type { Log } from './log.js';

/** The result of an iterator that has ended. */
export const END = { done: true, value: undefined } as const;
/** How a source has ended: completely, or with an error. */
export type End = typeof END | { readonly error: unknown };

/** Returns a source to pull the values of an input by. The values of a pushing input wait in memory. */
export function sourceOf(input: Source<unknown>): PullSource {
  return pullSource(Object(input) as object) ?? new PushedSource(input);
}

/** Keeps the values of a pushing input until they are pulled. */
class PushedSource implements PullSource {
  readonly #kept = new Fifo<{ readonly value: unknown }>();
  readonly #subscription: Subscription;
  #taker: Pull<unknown> | null = null;
  #end: ((taker: Pull<unknown>) => void) | null = null;

  constructor(input: Source<unknown>) {
    this.#subscription = observableFrom(input).subscribe({
      next: (value) => {
        this.#kept.push({ value });
        this.#settle();
      },
      error: (error: unknown) => {
        this.#finish((taker) => taker.reject(error));
      },
      complete: () => {
        this.#finish((taker) => taker.resolve(END));
      },
    });
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

/** Makes the source of the first items of a subscriber without a place. */
export type Beginning = <T, C>(log: Log<T, C>) => PullSource;

/** @throws TypeError for an unknown name */
export function beginningAt(from: 'end' | 'start' = 'end'): Beginning {
  if (from === 'end') return atEnd;
  if (from === 'start') return (log) => new StartSource(log);
  throw optionError('from', "'end' or 'start'", from);
}

/** The bare cursor of the end. */
export function atEnd<T, C>(log: Log<T, C>): PullSource {
  return sourceOf(
    observableFrom(log.head()).pipe(
      take(1),
      map((cursor) => ({ cursor })),
    ),
  );
}

/**
 * Every message that a log keeps; the bare cursor of the end where it keeps none. The source asks for the end first. A later message is thus
 * in the history, or on its way through `live$`.
 */
class StartSource<T, C> implements PullSource {
  #source: PullSource;
  #history: PullSource | null = null;
  /** The bare cursor of the end, as long as the history has no message. */
  #end: unknown = null;

  constructor(private readonly log: Log<T, C>) {
    this.#source = atEnd(log);
  }

  pull(taker: Pull<unknown>): void {
    this.#source.pull({
      resolve: (result) => {
        if (this.#history === null) this.#begin(result, taker);
        else this.#pass(result, taker);
      },
      reject: (error) => taker.reject(error),
    });
  }

  stop(): unknown {
    return this.#source.stop();
  }

  #begin({ value }: IteratorResult<unknown, undefined>, taker: Pull<unknown>): void {
    this.#end = value ?? null;
    this.#source.stop();
    try {
      this.#source = this.#history = sourceOf(this.log.history(null));
      this.pull(taker);
    } catch (error) {
      taker.reject(error);
    }
  }

  #pass(result: IteratorResult<unknown, undefined>, taker: Pull<unknown>): void {
    const end = this.#end;
    this.#end = null;
    taker.resolve(result.done === true && end !== null ? { done: false, value: end } : result);
  }
}
