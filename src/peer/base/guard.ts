import { from, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { isPromise } from '../../wire/cross-realm.js';

/** Whether `await` would wait for a value. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  return 'then' in value && typeof value.then === 'function';
}

/** Emits a callback's result when it is available: a plain value at once, so that virtual time stays virtual. */
export function observableOf<T>(value: T | PromiseLike<T>): Observable<T> {
  return isThenable(value) ? from(value) : of(value);
}

/** Marks a promise as handled. Leaves other thenables alone. */
export function markHandled<T>(value: T): T {
  if (isPromise(value)) value.catch(() => undefined);
  return value;
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
