import { from, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { isThenable, markHandled } from '../util/check.js';
import { StreamError, isMuxError } from '../wire/errors.js';

/** Errors whose stack already names a caller. */
const decorated = new WeakSet();
const SETTLED = Promise.resolve();

/** Makes the promise of a call that may fail. The user need not handle its rejection. */
export function unheeded<T>(call: (resolve: (value: T) => void, fail: (error: unknown) => void) => void): Promise<T> {
  const promise = new Promise<T>((resolve) => {
    call(resolve, (error) => {
      resolve(failing(error, () => promise));
    });
  });
  return promise;
}

/** Makes a rejected promise. The user need not handle its rejection. */
export function rejected(error: unknown): Promise<never> {
  const promise: Promise<never> = failing(error, () => promise);
  return promise;
}

/**
 * Rejects with an error, after its stack names the functions that await the promise.
 *
 * An error is created in the handling of a frame or a timer, far from the call. V8 finds the awaiting functions from a microtask that
 * leads to them. So only a call that fails pays for its stack. Other engines leave the error unchanged.
 *
 * @param unheeded returns a promise whose rejection need not be handled. V8 follows only promises with one reaction, so the handler is
 *   added last
 */
export async function failing(error: unknown, unheeded?: () => Promise<unknown>): Promise<never> {
  // A promise that resolves with this one settles two microtasks later.
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

/** Emits a callback's result when it is available: a plain value at once, so that virtual time stays virtual. */
export function observableOf<T>(value: T | PromiseLike<T>): Observable<T> {
  return isThenable(value) ? from(Promise.resolve(value)) : of(value);
}

/** @throws TypeError for a thenable that a callback returned, if the caller does not await it */
export function refuseThenable(what: string, result: unknown): void {
  if (!isThenable(result)) return;
  markHandled(result);
  throw new TypeError(`expected ${what} to work synchronously, got a promise`);
}

/** @throws TypeError unless a callback of the user's returned a boolean; a promise of a boolean is none */
export function booleanOf(what: string, verdict: unknown): boolean {
  if (typeof verdict === 'boolean') return verdict;
  markHandled(verdict);
  throw new TypeError(`${what}: expected a boolean, got ${isThenable(verdict) ? 'a promise' : typeof verdict}`);
}

// TypeScript declares the symbol only with the lib `esnext.disposable` or with `@types/node`, and a program may have neither.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** The method that `await using` calls. On a platform without such a symbol, it is a symbol of the package that no code calls. */
export const asyncDispose: typeof Symbol.asyncDispose =
  (Symbol as Partial<SymbolConstructor>).asyncDispose ?? (Symbol('Symbol.asyncDispose') as typeof Symbol.asyncDispose);
