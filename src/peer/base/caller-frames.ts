import { isMuxError } from '../../wire/any-error.js';
import { StreamError } from '../../wire/stream-errors.js';

/** Errors whose stack already names a caller. */
const decorated = new WeakSet();
const SETTLED = Promise.resolve();

/** A promise of a call that may fail, and whose rejection need not be handled. */
export function unheeded<T>(call: (resolve: (value: T) => void, fail: (error: unknown) => void) => void): Promise<T> {
  const promise = new Promise<T>((resolve) => {
    call(resolve, (error) => {
      resolve(failing(error, () => promise));
    });
  });
  return promise;
}

/** A promise that is rejected, and whose rejection need not be handled. */
export function rejected(error: unknown): Promise<never> {
  const promise: Promise<never> = failing(error, () => promise);
  return promise;
}

/**
 * Rejects with an error, after its stack names the functions that await the promise.
 *
 * An error is made where a frame or a timer is handled, far from the call. V8 finds the awaiting functions from a microtask that leads
 * to them. So only a call that fails pays for its stack. Elsewhere the error stays as it is.
 *
 * @param unheeded returns a promise whose rejection need not be handled. V8 follows a promise with one reaction only, so its handler
 *   comes last
 */
export async function failing(error: unknown, unheeded?: () => Promise<unknown>): Promise<never> {
  // A promise that resolves with this one follows it two microtasks later.
  await SETTLED;
  await SETTLED;
  const named = withCallers(error, callerFrames());
  unheeded?.().catch(() => undefined);
  throw named;
}

/** Only V8 has `captureStackTrace`. */
type Capturing = typeof Error & { readonly captureStackTrace?: (target: object, below: unknown) => void };

/** The stack frames below {@link failing}, without the frames of Node's microtasks: the awaiting functions. */
function callerFrames(): string {
  const captured = { stack: '' };
  (Error as Capturing).captureStackTrace?.(captured, failing);
  const [, ...frames] = captured.stack.split('\n');
  return frames.filter((frame) => !frame.includes('(node:internal/')).join('\n');
}

/** Adds the frames to an error of this library. An error that several calls share, such as a dial's error, is copied for each. */
function withCallers(error: unknown, frames: string): unknown {
  if (frames === '' || !isMuxError(error) || decorated.has(error)) return error;
  const own = error instanceof StreamError ? error : copyOf(error);
  own.stack = `${error.stack ?? String(error)}\n${frames}`;
  decorated.add(own);
  return own;
}

function copyOf(error: Error): Error {
  const copy = new Error(error.message);
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object);
  return Object.defineProperties(copy, Object.getOwnPropertyDescriptors(error));
}
