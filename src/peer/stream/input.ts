import { from, isObservable, Observable } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { isArrayBuffer, isBlob } from '../../wire/cross-realm.js';
import { guard } from '../../rx/guard.js';
import { disown } from '../base/guard.js';
import { StreamIterator } from './stream-iterator.js';
import type { Pull } from './stream-iterator.js';

/**
 * What a call sends, or a function that makes it, so that each attempt gets a fresh one. An iterator, a generator, a
 * ReadableStream, a stream of Node, and a stream of this library that nobody reads any more, give their values once: what takes
 * one a second time fails with a TypeError.
 *
 * A `Blob` or `File` is sent as payloads of 64 KiB, each a Uint8Array, for which the codec has to carry bytes. Other bytes (a view or an
 * ArrayBuffer) are a payload, not an input: as one they fail with a TypeError; give `[bytes]`. A string is an input, as it is for rxjs's
 * `from`: it is sent letter by letter.
 *
 * The call releases the input, whatever becomes of the call: an iterator gets `return()`, a ReadableStream `cancel()`, a stream of Node
 * `destroy()`, also where the call fails before it asks for a value.
 */
export type Input<Out> = ObservableInput<Out> | Blob | (() => ObservableInput<Out> | Blob);

/** Bytes of a Blob in one payload. */
const BLOB_SLICE_BYTES = 64 * 1024;

/** rxjs's `from`, also for an Observable of a copy of rxjs that was loaded before something defined `Symbol.observable`, or after. */
export function observableFrom<T>(source: ObservableInput<T>): Observable<T> {
  if (source instanceof Observable || !isObservable(source)) return from(source);
  const foreign = source as Observable<T>;
  return new Observable((subscriber) => foreign.subscribe(subscriber));
}

/** Something that gives its next value when asked, at once or later. */
export interface PullSource {
  pull(taker: Pull<unknown>): void;
  stop(): unknown;
}

/** @throws TypeError for bytes, which would go out one a message */
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

/** An async iterable that can be ended at any time, such as a stream of Node. */
interface Destroyable extends AsyncIterable<unknown> {
  destroy(): unknown;
  on?(event: 'error', listener: () => void): unknown;
}

function canBeDestroyed(input: object): input is Destroyable {
  return Symbol.asyncIterator in input && typeof (input as Partial<Destroyable>).destroy === 'function';
}

/** Whether it is ended by its `destroy`. A request that a server has got is not: that would close the connection of its response. */
function isEndedByDestroy(input: object): input is Destroyable {
  const isRequest = 'httpVersion' in input && 'method' in input && typeof input.method === 'string';
  return canBeDestroyed(input) && !isRequest;
}

/** Whether an input gives what it has only once. Of other Observables nobody can tell. */
export function isOneShot(input: Input<unknown>): boolean {
  if (typeof input === 'function') return false;
  const source = Object(input) as object & Partial<AsyncIterable<unknown> & Iterable<unknown>>;
  if (isReadableStream(source) || canBeDestroyed(source)) return true;
  const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]?.();
  return iterator === source || iterator instanceof StreamIterator;
}

/** What gives its values once, and has been taken: for a second attempt it would be an empty upload. */
const consumed = new WeakSet();

/** @throws TypeError for what was taken before */
function refuseConsumed(input: object, what: string): void {
  if (!consumed.has(input)) return;
  throw new TypeError(
    `expected an input that can be sent again, or a function that makes a fresh one for each attempt, got ${what} that was taken before`,
  );
}

/** Takes what gives its values once, for good. A stream is shared while somebody reads it, as it is by its subscribers. */
function consume(input: object, iterator: unknown): void {
  if (iterator === input) refuseConsumed(input, 'an iterator');
  else if (iterator instanceof StreamIterator) {
    if (!iterator.isShared) refuseConsumed(input, 'a stream');
  } else if (canBeDestroyed(input)) refuseConsumed(input, 'a stream of Node');
  else return;
  consumed.add(input);
}

/**
 * What an input is pulled by; `null` for what pushes.
 *
 * @throws TypeError for what gives its values once, and was taken before
 */
export function pullSource(input: object): PullSource | null {
  if (isBlob(input)) return blobSource(input);
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

/** An iterator, which may hold something already; an iterable holds nothing until it makes one. */
function isIterator(input: object): boolean {
  return (Symbol.asyncIterator in input || Symbol.iterator in input) && 'next' in input && typeof input.next === 'function';
}

/**
 * Releases an input that will never be sent: a promise may then reject unseen, and a source that others fill learns that nobody
 * reads. A lazy iterable holds nothing yet.
 */
export function decline(input: Input<unknown>): void {
  disown(input);
  const source = Object(input) as object;
  // The call that consumed it stops it.
  if (consumed.has(source)) return;
  // Of Observables only a stream is pulled, and stopped here.
  if (isReadableStream(source) || isEndedByDestroy(source) || isObservable(source) || isIterator(source))
    guard('ending an input', () => pullSource(source)?.stop());
}

/** Reads a Blob slice by slice. */
function blobSource(blob: Blob): PullSource {
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

/** A generator cannot be ended while it runs: one that ends its own call is ended once it has given its value. */
function iterableSource(iterator: Iterator<unknown>): PullSource {
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

function asyncSource(iterator: AsyncIterator<unknown>): PullSource {
  const stop = (): unknown => iterator.return?.();
  // A stream of this library gives its values without a promise, so that what is passed on stays in virtual time.
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

/** Hands on what an async iterator has given for a result: it may be none, or throw where it is read. */
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
function readerSource(reader: ReadableStreamDefaultReader<unknown>): PullSource {
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

/** Its iterator's `return` would wait for the value that was asked for, which may never come. */
function destroyableSource(input: Destroyable, iterator: AsyncIterator<unknown>): PullSource {
  // Without a listener an `error` event would end the process. The iterator reports one that comes before the first pull; one that
  // `destroy()` causes interests nobody.
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
