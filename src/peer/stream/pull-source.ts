import { guard } from '../../rx/guard.js';
import { StreamIterator } from '../../stream/iterator.js';
import type { Pull } from '../../stream/iterator.js';

/** One payload carries so many bytes of a Blob. */
const BLOB_SLICE_BYTES = 64 * 1024;

/** A source that passes its next value to a pull, at once or later. */
export interface PullSource {
  pull(taker: Pull<unknown>): void;
  stop(): unknown;
}

/** An async iterable that can be stopped at any time, such as a stream of Node. */
export interface Destroyable extends AsyncIterable<unknown> {
  destroy(): unknown;
  on?(event: 'error', listener: () => void): unknown;
}

/** Reads a Blob slice by slice. */
export function blobSource(blob: Blob): PullSource {
  let offset = 0;
  return {
    pull: (taker) => {
      if (offset >= blob.size) {
        taker.resolve({ done: true, value: undefined });
        return;
      }
      const slice = blob.slice(offset, (offset += BLOB_SLICE_BYTES));
      slice.arrayBuffer().then(
        (bytes) => taker.resolve({ done: false, value: new Uint8Array(bytes) }),
        (error: unknown) => taker.reject(error),
      );
    },
    stop: () => undefined,
  };
}

/** A generator cannot be stopped while it runs. One that ends its own call is stopped after it has yielded its value. */
export function iterableSource(iterator: Iterator<unknown>): PullSource {
  let isRunning = false;
  let isLeft = false;
  return {
    pull: (taker) => {
      isRunning = true;
      const result = iterator.next();
      isRunning = false;
      if (!isLeft) taker.resolve(result);
      else if (result.done !== true) guard('ending an input', () => iterator.return?.());
    },
    stop: () => {
      if (isRunning) isLeft = true;
      else iterator.return?.();
    },
  };
}

export function asyncSource(iterator: AsyncIterator<unknown>): PullSource {
  const stop = (): unknown => iterator.return?.();
  // A stream of this library passes its values without a promise, so that a proxied stream stays in virtual time.
  if (iterator instanceof StreamIterator) return { pull: (taker) => iterator.pull(taker as Pull<never>), stop };
  return {
    pull: (taker) => {
      iterator.next().then(
        (result: unknown) => {
          settle(taker, result);
        },
        (error: unknown) => taker.reject(error),
      );
    },
    stop,
  };
}

/** Passes on a result of an async iterator. A foreign iterator may return no object, or an object whose getters throw. */
function settle(taker: Pull<unknown>, result: unknown): void {
  try {
    if (typeof result !== 'object' || result === null)
      throw new TypeError(`expected the result of an async iterator, got ${String(result)}`);
    taker.resolve(result as IteratorResult<unknown>);
  } catch (error) {
    taker.reject(error);
  }
}

/**
 * Read by its reader although it is async-iterable: the iterator's `return()` waits for the pending `next()`, `cancel()` does not.
 * When it is over, the stream is unlocked, as `pipeTo` leaves it: a lock would make its owner's own `cancel()` reject.
 */
export function readerSource(reader: ReadableStreamDefaultReader<unknown>): PullSource {
  return {
    pull: (taker) => {
      reader.read().then(
        (result) => {
          if (result.done) reader.releaseLock();
          taker.resolve(result as IteratorResult<unknown>);
        },
        (error: unknown) => {
          reader.releaseLock();
          taker.reject(error);
        },
      );
    },
    stop: () => {
      const cancelled = reader.cancel();
      reader.releaseLock();
      return cancelled;
    },
  };
}

/** Stops by `destroy`, because the iterator's `return` would wait for the pulled value, which may never come. */
export function destroyableSource(input: Destroyable, iterator: AsyncIterator<unknown>): PullSource {
  // Without a listener an `error` event would end the process. The iterator reports an error before the first pull. An error that
  // `destroy()` causes needs no report.
  input.on?.('error', () => undefined);
  const source = asyncSource(iterator);
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
