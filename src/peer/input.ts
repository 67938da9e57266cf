import type { ObservableInput } from 'rxjs';
import { guard } from './guard.js';
import { StreamIterator } from './stream-iterator.js';
import type { Pull } from './stream-iterator.js';

/** What a call sends, or a function that makes it, so that each attempt gets a fresh one. */
export type Input<Out> = ObservableInput<Out> | (() => ObservableInput<Out>);

/** Something that gives its next value when asked, at once or later. */
export interface PullSource {
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

/** An async iterable that can be ended at any time, such as a stream of Node. */
interface Destroyable extends AsyncIterable<unknown> {
  destroy(): unknown;
  on?(event: 'error', listener: () => void): unknown;
}

/** Whether it is ended by its `destroy`. A request that a server has got is not: that would close the connection of its response. */
export function isDestroyable(input: object): input is Destroyable {
  const { destroy, httpVersion, method } = input as Record<'destroy' | 'httpVersion' | 'method', unknown>;
  return Symbol.asyncIterator in input && typeof destroy === 'function' && (httpVersion === undefined || typeof method !== 'string');
}

/** What an input is pulled by; `null` for what pushes. */
export function pullSource(input: object): PullSource | null {
  // Ahead of its iterator, whose `return` waits for the value that was asked for.
  if ('getReader' in input) {
    const reader = (input as ReadableStream<unknown>).getReader();
    return asyncSource({ next: () => reader.read() as Promise<IteratorResult<unknown>>, return: () => reader.cancel() as Promise<never> });
  }
  if (isDestroyable(input)) return destroyableSource(input);
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

/** Its iterator's `return` would wait for the value that was asked for, which may never come. */
function destroyableSource(input: Destroyable): PullSource {
  // Of an error that comes before it is begun its iterator tells, and of one that its end brings nobody wants to know.
  input.on?.('error', () => undefined);
  const source = asyncSource(input[Symbol.asyncIterator]());
  return {
    pull: (taker) => {
      source.pull(taker);
    },
    stop() {
      guard('destroying an input', () => input.destroy());
      return source.stop();
    },
  };
}
