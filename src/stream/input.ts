import { Observable, defer, isObservable } from 'rxjs';
import type { ObservableInput, Observer } from 'rxjs';
import { guard } from '../rx/subscribers.js';
import { isArrayBuffer, isBlob, isThenable, markHandled, tagOf } from '../util/check.js';
import { PulledIterator, StreamIterator } from './iterator.js';
import type { Pull } from './iterator.js';

/** The bytes of a Blob that one payload carries. */
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

/** Yields a Blob slice by slice. */
async function* slicesOf(blob: Blob): AsyncGenerator<Uint8Array, undefined> {
  for (let offset = 0; offset < blob.size; offset += BLOB_SLICE_BYTES)
    yield new Uint8Array(await blob.slice(offset, offset + BLOB_SLICE_BYTES).arrayBuffer());
  return undefined;
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
  // A stream of this library passes its values without a promise, so that a proxied stream stays in virtual time.
  if (iterator instanceof PulledIterator) return iterator as PulledIterator<unknown>;
  return {
    pull: (taker) => {
      iterator.next().then(
        (result: unknown) => {
          settle(taker, result);
        },
        (error: unknown) => taker.reject(error),
      );
    },
    stop: () => iterator.return?.(),
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

/**
 * An Observable of a browser, such as `when()` returns it. Its `subscribe` takes an `AbortSignal` and returns nothing. TypeScript does not
 * declare these Observables, so this is the part that a program needs to declare.
 *
 * @example
 * ```ts
 * interface Whenever { when(type: 'click'): NativeObservable<MouseEvent> }
 * const clicks = (button as EventTarget & Whenever).when('click');
 * peer.open$('clicks', { input: () => clicks }).subscribe(show);
 * ```
 */
export interface NativeObservable<T> {
  /** The result `void | undefined` makes TypeScript refuse a `subscribe` that returns something, as the one of a store does. */
  readonly subscribe: (observer: Observer<T>, options: { readonly signal: AbortSignal }) => void | undefined;
}

/**
 * Many values: all that rxjs takes for an Observable, and an Observable of a browser.
 *
 * @example
 * ```ts
 * const rows: Source<number>[] = [of(1), [1], Promise.resolve(1), (button as EventTarget & Whenever).when('click')];
 * ```
 */
export type Source<T> = ObservableInput<T> | NativeObservable<T>;

/**
 * The values that a call sends, or a function that returns them, so that each attempt has a fresh input. Some inputs yield their values only
 * once: an iterator, a generator, a ReadableStream, a stream of Node, and a stream of this library without a reader. A second call with such
 * an input fails with a TypeError.
 *
 * A call sends a `Blob` or `File` as payloads of 64 KiB, each a Uint8Array, so the codec has to carry bytes. Other bytes (a view or an
 * ArrayBuffer) are a payload and no input. As an input they fail with a TypeError; pass `[bytes]`, or a Blob of them. A string is an
 * input, as for `from` of rxjs, and is sent letter by letter.
 *
 * An Observable of a browser (`when()`) and an object with `Symbol.observable` or `'@@observable'` are inputs too. An Effect and an actor
 * that is not started fail with a TypeError, which has the line that runs them.
 *
 * The call always releases its input, even if the call fails before it pulls a value. It calls `return()` of an iterator, `cancel()` of a
 * ReadableStream, and `destroy()` of a stream of Node.
 */
export type Input<Out> = Source<Out> | Blob | (() => Source<Out> | Blob);

/**
 * `from` of rxjs, also for each Observable that {@link adopted} knows. Any other value fails at the subscription. `defer` converts it,
 * because `from` also takes a scheduler, which is 1 KB of a page.
 */
export function observableFrom<T>(source: Source<T>): Observable<T> {
  const known = adopted(source) as ObservableInput<T>;
  if (known instanceof Observable) return known;
  return defer(() => (isThenable<unknown>(known) ? Promise.resolve(known) : known));
}

/** An Observable that is not of this copy of rxjs. */
interface Foreign {
  readonly '@@observable'?: unknown;
  readonly _processingStatus?: unknown;
  subscribe(observer: Observer<unknown>, options: { readonly signal: AbortSignal }): (() => void) | { unsubscribe(): void } | undefined;
}

/**
 * Returns an Observable of others as one of rxjs: of another copy of rxjs, of a browser (`when()`), or an object with `Symbol.observable`,
 * as it is now, or `'@@observable'`. Returns every other value unchanged, iterables too, because they are pulled.
 *
 * @throws TypeError for a value of another library that does nothing until it is run
 */
export function adopted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Observable) return value;
  const source = value as Foreign & object;
  // An Effect of version 3 or 4, and an actor of xstate.
  const isEffect = Symbol.for('effect/Effect') in source || '~effect/Effect' in source;
  if (isEffect || source._processingStatus === 0)
    throw new TypeError(`expected a source that runs: pass ${isEffect ? 'Effect.runPromise(effect)' : 'actor.start()'}`);
  if (isThenable(source) || Symbol.asyncIterator in source || Symbol.iterator in source) return source;
  if (isObservable(source) || tagOf(source) === 'Observable') return subscribing(source);
  const self = (source as Partial<Record<symbol, unknown>>)[Symbol.observable] ?? source['@@observable'];
  return typeof self === 'function' ? subscribing(self.call(source) as Foreign) : source;
}

function subscribing(source: Foreign): Observable<unknown> {
  return new Observable((subscriber) => {
    // A browser's `subscribe` takes a signal and returns nothing. It calls these functions without `this`.
    const leaving = new AbortController();
    subscriber.add(() => {
      leaving.abort();
    });
    return source.subscribe(
      {
        next: (value) => {
          subscriber.next(value);
        },
        error: (error) => {
          subscriber.error(error);
        },
        complete: () => {
          subscriber.complete();
        },
      },
      leaving,
    );
  });
}

/**
 * Returns the promise that an input is, for a caller that awaits it more than once; `null` for items. An async iterable yields items even
 * where it has a `then`, as a query of mongoose or knex does.
 */
export function promisedBy(input: unknown): Promise<unknown> | null {
  return isThenable(input) && !(Symbol.asyncIterator in Object(input)) ? Promise.resolve(input) : null;
}

/** @throws TypeError for bytes, which would leave one byte per message */
export function refuseBytes(input: unknown): void {
  if (ArrayBuffer.isView(input) || isArrayBuffer(input))
    throw new TypeError(
      'expected an input of payloads, such as an Observable or an iterable, got bytes: [bytes] is an input of one payload',
    );
}

/** A ReadableStream of the platform, or of a polyfill. */
function isReadableStream(input: object): input is ReadableStream<unknown> {
  return 'getReader' in input;
}

function canBeDestroyed(input: object): input is Destroyable {
  return Symbol.asyncIterator in input && typeof (input as Partial<Destroyable>).destroy === 'function';
}

/** Whether `destroy` should end the input. For a request at an HTTP server it would close the connection of the response. */
function isEndedByDestroy(input: object): input is Destroyable {
  const isRequest = 'httpVersion' in input && 'method' in input && typeof input.method === 'string';
  return canBeDestroyed(input) && !isRequest;
}

/** Returns whether an input yields its values only once. For Observables other than streams the answer is unknown, and `false`. */
export function isOneShot(input: Input<unknown>): boolean {
  if (typeof input === 'function') return false;
  const source = Object(input) as object & Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  if (isReadableStream(source) || canBeDestroyed(source)) return true;
  // Ask no other iterable: its iterator may hold resources. Streams and logs are Observables. An iterator has `next`, and returns itself.
  const iterator = (isObservable(input) || 'next' in source) && (source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]?.());
  if (iterator === source || iterator instanceof StreamIterator) return true;
  // A log is followed from the iterator on, and not from its first value.
  if (iterator) guard('ending an input', () => iterator.return?.());
  return false;
}

/** One-shot inputs that a call has already taken. A second attempt would send an empty upload. */
const consumed = new WeakSet();

/** @throws TypeError for an input that a call has already taken */
function refuseConsumed(input: object, what: string): void {
  if (!consumed.has(input)) return;
  throw new TypeError(
    `expected an input that can be sent again, or a function that makes a fresh one for each attempt, got ${what} that was taken before`,
  );
}

/** Marks a one-shot input as taken. A stream with a reader is shared instead, as its subscribers share it. */
function consume(input: object, iterator: unknown): void {
  if (iterator === input) refuseConsumed(input, 'an iterator');
  else if (iterator instanceof StreamIterator) {
    if (!iterator.isShared) refuseConsumed(input, 'a stream');
  } else if (canBeDestroyed(input)) refuseConsumed(input, 'a stream of Node');
  else return;
  consumed.add(input);
}

/**
 * Returns the source to pull an input by; `null` for an input that pushes.
 *
 * @throws TypeError for a one-shot input that a call has already taken
 */
export function pullSource(input: object): PullSource | null {
  if (isBlob(input)) return asyncSource(slicesOf(input));
  if (isReadableStream(input)) {
    refuseConsumed(input, 'a ReadableStream');
    const reader = input.getReader();
    consumed.add(input);
    return readerSource(reader);
  }
  if (Symbol.asyncIterator in input) {
    const iterator = (input as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    consume(input, iterator);
    return isEndedByDestroy(input) ? destroyableSource(input, iterator) : asyncSource(iterator);
  }
  if (!(Symbol.iterator in input)) return null;
  const iterator = (input as Iterable<unknown>)[Symbol.iterator]();
  consume(input, iterator);
  return iterableSource(iterator);
}

/**
 * Releases an input that will never be sent. A promise may then reject unhandled, and a source that others fill is stopped. A lazy iterable
 * holds no resources yet.
 */
export function releaseInput(input: Input<unknown>): void {
  markHandled(input);
  const source = Object(input) as object;
  // The call that has taken the input stops it.
  if (consumed.has(source)) return;
  // Among Observables only a stream is pulled, and so stopped here. An iterator, which has `next`, may hold resources; other iterables do not.
  if (isReadableStream(source) || isEndedByDestroy(source) || isObservable(source) || 'next' in source)
    guard('ending an input', () => pullSource(source)?.stop());
}
