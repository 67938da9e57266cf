import { from, isObservable, takeWhile } from 'rxjs';
import type { ObservableInput, TeardownLogic } from 'rxjs';
import { disown, guard } from './guard.js';
import { Overflowing } from './overflow.js';
import type { Outlet, Overflow } from './overflow.js';
import { StreamIterator } from './stream-iterator.js';
import type { Pull } from './stream-iterator.js';

/** What a call sends, or a function that makes it, so that each attempt gets a fresh one. */
export type Input<Out> = ObservableInput<Out> | (() => ObservableInput<Out>);

/** Something that gives its next value when asked, at once or later. */
interface PullSource {
  pull(taker: Pull<unknown>): void;
  stop(): unknown;
}

/** Whether an input gives what it has only once. Of other Observables nobody can tell. */
export function isOneShot(input: Input<unknown>): boolean {
  if (typeof input === 'function') return false;
  const source = Object(input) as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  if ('getReader' in source) return true;
  const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]?.();
  return iterator === source || iterator instanceof StreamIterator;
}

/**
 * Takes everything an input gives to an outlet: iterables, async iterables, ReadableStreams and streams are pulled while
 * there is room, other Observables push, and `overflow` says what becomes of a value without room.
 */
export function pump(input: Input<unknown>, outlet: Outlet, overflow: Overflow): TeardownLogic {
  try {
    const made = typeof input === 'function' ? input() : input;
    const source = pullSource(Object(made) as object);
    return source === null ? push(made, outlet, overflow) : pull(source, outlet);
  } catch (error) {
    outlet.fail(error);
    return undefined;
  }
}

/**
 * Lets go of an input that nobody will take: a promise may reject unseen, and what others fill is told that nobody reads.
 * What has only to be pulled holds nothing before it is begun.
 */
export function decline(input: Input<unknown>): void {
  disown(input);
  const source = Object(input) as object;
  // Of Observables only a stream is pulled, and stopped here.
  if ('getReader' in source || isObservable(source)) guard('ending an input', () => pullSource(source)?.stop());
}

function push(input: ObservableInput<unknown>, outlet: Outlet, overflow: Overflow): TeardownLogic {
  const policy = new Overflowing(outlet, overflow);
  // A source that emits all it has while it is subscribed to can be stopped in no other way.
  return from(input)
    .pipe(takeWhile(() => !outlet.closed))
    .subscribe({
      next: (value) => {
        policy.next(value);
      },
      error: (error: unknown) => {
        outlet.fail(error);
      },
      complete: () => {
        policy.complete();
      },
    });
}

function pullSource(input: object): PullSource | null {
  // Ahead of its iterator, whose `return` waits for the value that was asked for.
  if ('getReader' in input) {
    const reader = (input as ReadableStream<unknown>).getReader();
    return asyncSource({ next: () => reader.read() as Promise<IteratorResult<unknown>>, return: () => reader.cancel() as Promise<never> });
  }
  if (Symbol.asyncIterator in input) return asyncSource((input as AsyncIterable<unknown>)[Symbol.asyncIterator]());
  if (!(Symbol.iterator in input)) return null;
  const iterator = (input as Iterable<unknown>)[Symbol.iterator]();
  return {
    pull: (taker) => {
      taker.resolve(iterator.next());
    },
    stop: () => iterator.return?.(),
  };
}

function asyncSource(iterator: AsyncIterator<unknown>): PullSource {
  const stop = (): unknown => iterator.return?.();
  // A stream of this library gives its values without a promise, so that what is passed on stays in virtual time.
  if (iterator instanceof StreamIterator) return { pull: (taker) => iterator.pull(taker as Pull<never>), stop };
  return {
    pull: (taker) => {
      iterator.next().then(
        (result: unknown) => {
          if (typeof result === 'object' && result !== null) taker.resolve(result as IteratorResult<unknown>);
          else taker.reject(new TypeError(`expected the result of an async iterator, got ${String(result)}`));
        },
        (error: unknown) => taker.reject(error),
      );
    },
    stop,
  };
}

/** Asks for the next value only while there is room. */
function pull(source: PullSource, outlet: Outlet): () => void {
  let exhausted = false;
  let asked = false;
  let stepping = false;
  const give = (value: unknown): void => {
    asked = false;
    outlet.send(value);
    step();
  };
  const taker: Pull<unknown> = {
    resolve({ done, value }) {
      if (done === true) {
        exhausted = true;
        outlet.complete();
      } else if (!outlet.full) give(value);
      // It was asked for when there was room for it.
      else outlet.whenRoom(() => give(value));
    },
    reject(error) {
      exhausted = true;
      outlet.fail(error);
    },
  };
  // A loop, because what is there at once would otherwise be asked for from within the answer before.
  const step = (): void => {
    if (stepping) return;
    stepping = true;
    while (!asked && !exhausted && !outlet.closed && outlet.idle) {
      asked = true;
      try {
        source.pull(taker);
      } catch (error) {
        taker.reject(error);
      }
    }
    stepping = false;
    // Its turn may come at once.
    if (!asked && !exhausted && !outlet.closed) outlet.whenIdle(step);
  };
  step();
  return () => {
    if (!exhausted) guard('ending an input', () => source.stop());
  };
}
